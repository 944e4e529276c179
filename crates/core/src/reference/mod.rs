//! The reference interpreter: the slow, obvious meaning of every kernel.
