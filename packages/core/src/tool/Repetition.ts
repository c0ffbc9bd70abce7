/** Calls that a model repeats at once. */
import { canonical } from "../data/Digest.ts"
import * as Render from "../recovery/Render.ts"
import type { Refuses } from "./Toolset.ts"

/** Refuses a call that the model repeats at once, although it has just read that the call may have taken effect. */
export const refuses: Refuses = ({ before, call }, ofTool) => {
  if (before?.role !== "assistant") return undefined
  for (const part of before.content) {
    if (part.type !== "settled-call" || !Render.mayBeDone(part.settlement)) continue
    const other = ofTool(part.call)
    if (other !== undefined && canonical(other.arguments) === canonical(call.arguments))
      return Render.unchecked(call.name, part.settlement.text)
  }
  return undefined
}
