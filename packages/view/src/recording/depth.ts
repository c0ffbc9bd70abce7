/** How deep values are nested that may be anything. */

/** Whether a value has lists or fields within each other, more than so many. */
export const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((below) => isDeeper(below, levels - 1)))
