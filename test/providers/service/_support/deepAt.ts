/** What stands at a path in JSON. */
export const deepAt = (json: unknown, path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === "object" && found !== null ? (found as Record<string | number, unknown>)[key] : undefined,
    json
  )
