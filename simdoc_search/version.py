"""The version of this package. Its metadata contains the same version, but reading the metadata takes 30 ms."""

VERSION = "0.1.0"
