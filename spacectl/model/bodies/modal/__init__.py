"""`ModalBody`: a flexible body given as data."""
