/**
 * Adds up the usage of those sends of a call that broke off and were resent. The sum is added to the usage of the reply, or of the last
 * failure.
 */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Stream from "effect/Stream"
import type { Failure } from "./Failure.ts"

export class Spent {
  #resent: Usage.Usage | undefined

  /** Records the usage of a failed send. Returns the failure with the usage of all sends so far. */
  failed(failure: Failure): Failure {
    const { error } = failure
    const own = Usage.isSound(error.usage) ? error.usage : undefined
    const before = this.#resent
    this.#resent = own === undefined ? before : before === undefined ? own : Usage.add(before, own)
    if (before === undefined || this.#resent === undefined) return failure
    return { ...failure, error: Model.withUsage(error, this.#resent) }
  }

  /** Adds the usage of the earlier sends to that of a reply or of a part with usage. */
  counted<A extends Pick<Message.Reply, "usage" | "resent">>(counted: A): A {
    const resent = this.#resent
    // usage that is not sound is left alone, because the run replaces it by an estimate
    if (resent === undefined || !Usage.isSound(counted.usage)) return counted
    return { ...counted, usage: Usage.add(counted.usage, resent), resent }
  }

  part(part: Model.Part): Model.Part {
    return part.type === "usage" || part.type === "finish" ? this.counted(part) : part
  }

  /** Adds the usage of the earlier sends to the rest of a stream. A failure of the rest is not resent. */
  rest(parts: Stream.Stream<Model.Part, LlmError.LlmError>): Stream.Stream<Model.Part, LlmError.LlmError> {
    const resent = this.#resent
    if (resent === undefined) return parts
    return Stream.mapError(
      Stream.map(parts, (part) => this.part(part)),
      // an error without usage of its own is left alone, because the last usage part of the stream counts
      (error) => (Usage.isSound(error.usage) ? Model.withUsage(error, Usage.add(error.usage, resent)) : error)
    )
  }
}
