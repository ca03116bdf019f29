"""Regulators and estimators: PD, the LQR family, Kalman filters, LQG."""
