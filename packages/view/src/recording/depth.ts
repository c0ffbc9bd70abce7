/** Measures how deeply a value is nested. */

/** Whether the lists and objects of a value are nested more than `levels` levels deep. */
export const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((child) => isDeeper(child, levels - 1)))
