"""Contracts of studies: question, parameters, results, published values, requirements, panels of reports."""
