/** This package, from the root. */
export const folder = "tools/durable-lab"
