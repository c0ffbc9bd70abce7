/** The input and the output of a recorded run as texts. */
import { at, itemsAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { Refused } from "./refusing.ts"

/** The input of a run as text: what its model has read as the first message of the user. */
export const inputOf = (start: Recorded): string => {
  const input = at(start, "input")
  const users = itemsAt(start, "transcript").filter((message) => textAt(message, "role") !== "system")
  const [first, ...others] = users
  if (others.length > 0) throw new Refused(start, "the run begins with an earlier conversation")
  if (typeof input === "string" || first === undefined) return typeof input === "string" ? input : JSON.stringify(input)
  const parts = itemsAt(first, "content")
  if (parts.some((part) => textAt(part, "type") !== "text"))
    throw new Refused(start, "the input has images or files, and events have no bytes")
  return parts.map((part) => textAt(part, "text") ?? "").join("")
}

/** The output of a run as text. */
export const outputOf = (event: Recorded): string => {
  const output = at(event, "output")
  return typeof output === "string" ? output : (JSON.stringify(output) ?? "")
}
