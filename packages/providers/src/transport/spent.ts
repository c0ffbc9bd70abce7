/** The usage of the sends of one call that broke off and were sent again: it counts for the reply, or for the last failure. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Stream from "effect/Stream"
import type { Failure } from "./Failure.ts"

export class Spent {
  #resent: Usage.Usage | undefined

  /** The failure of a send, with the usage of those before it. */
  failed(failure: Failure): Failure {
    const { error } = failure
    const own = Usage.isSound(error.usage) ? error.usage : undefined
    const before = this.#resent
    this.#resent = own === undefined ? before : before === undefined ? own : Usage.add(before, own)
    if (before === undefined || this.#resent === undefined) return failure
    return { ...failure, error: Model.withUsage(error, this.#resent) }
  }

  /** The counts of a reply, with those of the sends before it. */
  counted<A extends Pick<Message.Reply, "usage" | "resent">>(counted: A): A {
    const resent = this.#resent
    // counts that are no amounts are replaced by the run
    if (resent === undefined || !Usage.isSound(counted.usage)) return counted
    return { ...counted, usage: Usage.add(counted.usage, resent), resent }
  }

  part(part: Model.Part): Model.Part {
    return part.type === "usage" || part.type === "finish" ? this.counted(part) : part
  }

  /** The stream behind the first parts: what fails there is not sent again. */
  rest(parts: Stream.Stream<Model.Part, LlmError.LlmError>): Stream.Stream<Model.Part, LlmError.LlmError> {
    const resent = this.#resent
    if (resent === undefined) return parts
    return Stream.mapError(
      Stream.map(parts, (part) => this.part(part)),
      // without counts of its own, the last ones of the stream count
      (error) => (Usage.isSound(error.usage) ? Model.withUsage(error, Usage.add(error.usage, resent)) : error)
    )
  }
}
