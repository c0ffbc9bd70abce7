/** Reads the text of one field out of the text of an object. */
import { endOfString } from "./number.ts"

/** The text of a field of a JSON object, as it is written there; the last one if the field occurs twice. The text must be valid JSON. */
export const memberOf = (json: string, name: string): string | undefined => {
  let found: string | undefined
  // Mutant `"Stryker was here!"` survives: before each colon comes a key
  let key = ""
  // values are passed over, so each string is a key
  for (let at = 0; at < json.length; at++) {
    const start = at
    if (json[at] === '"') {
      at = endOfString(json, start)
      key = json.slice(start, at + 1)
    } else if (json[at] === ":") {
      at = endOfValue(json, start + 1) - 1
      if (JSON.parse(key) === name) found = json.slice(start + 1, at + 1).trim()
    }
  }
  return found
}

/** Where the value ends that begins here: at the comma or the bracket behind it. */
const endOfValue = (json: string, start: number): number => {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const char = json[at] ?? ""
    if (char === '"') at = endOfString(json, at)
    else if (char === "{" || char === "[") depth++
    else if (depth === 0 && (char === "," || char === "}")) return at
    else if (char === "}" || char === "]") depth--
  }
  return json.length
}
