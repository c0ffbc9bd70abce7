/** The names of tools of an API. */
import * as Tool from "@kintsugi/core/Tool"

/**
 * The names for models, in order. Throws a `TypeError` for two tools of one name, and for a name in the options (`said`) that no tool has.
 */
export const namesOf = (
  what: string,
  all: ReadonlyArray<string>,
  said: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const name of all) {
    if (found.has(name)) throw new TypeError(`${what}: there are two tools named '${name}'`)
    found.add(name)
  }
  for (const name of said) if (!found.has(name)) throw new TypeError(`${what}: there is no tool '${name}'`)
  return Tool.namesFor(all)
}
