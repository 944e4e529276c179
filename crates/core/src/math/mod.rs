//! One definition for each scalar function and precision.
