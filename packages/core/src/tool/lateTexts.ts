/** What a model reads of a deferred call whose run goes on. */
import type { Json } from "effect/Schema"
import * as Render from "../recovery/Render.ts"

/** The settlement of the call. */
export const deferred = (handle: Json): string =>
  `The work of this call has begun and is not over. Its handle is ${Render.asData(JSON.stringify(handle))}. Its result comes in a later message: do not make the call again to get it.`

/** The call that a late result is of. */
interface Source {
  readonly tool: string
  readonly callId: string
  readonly handle: Json
}

/** The message with its result, framed as data. */
export const lateResult = ({ callId, handle, tool }: Source, text: string): string =>
  `The call '${callId}' of tool '${tool}', with the handle ${Render.asData(JSON.stringify(handle))}, is over. Its result: ${Render.framed(text)}`
