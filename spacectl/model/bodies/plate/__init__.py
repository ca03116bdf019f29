"""`Plate`: a thin rectangular plate."""
