/** Replies with a usage of their own. */
import { Message, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"

const { call, replies, reply } = ScriptedModel

/** A reply for which the provider has told so many tokens. */
export const spending = (inputTokens: number, outputTokens = 5, ...names: ReadonlyArray<string>) =>
  replies(
    reply({
      content:
        names.length === 0 ? [Message.text("done")] : names.map((name, index) => call(name, {}, `c${index + 1}`)),
      usage: Usage.make({ inputTokens, outputTokens })
    })
  )
