/** The depth of unknown values. */

/** Whether lists and fields of a value are nested in more than so many levels. */
export const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((child) => isDeeper(child, levels - 1)))
