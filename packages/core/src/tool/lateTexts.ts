/** The texts that a model reads about a deferred call whose run goes on. */
import type { Json } from "effect/Schema"
import { isError, type Settlement } from "../data/Message.ts"
import * as Render from "../recovery/Render.ts"

/** The settlement of the call. */
export const deferred = (handle: Json): string =>
  `The work of this call has begun and is not over. Its handle is ${Render.asData(JSON.stringify(handle))}. Its result comes in a later message: do not make the call again to get it.`

/** The call to which a late result belongs. */
interface Source {
  readonly tool: string
  readonly callId: string
  readonly handle: Json
}

/** The message with a late result, or with the text about its failure. Both are framed as data. */
export const lateResult = ({ callId, handle, tool }: Source, settlement: Settlement): string => {
  const { kind, text } = settlement
  const isFailed = isError(settlement)
  const what = kind === "unknown" ? "Its outcome is unknown" : isFailed ? "It has failed" : "Its result"
  return `The call '${callId}' of tool '${tool}', with the handle ${Render.asData(JSON.stringify(handle))}, is over. ${what}: ${Render.framed(text, isFailed)}`
}
