/** What a transport may be given as its policy, and what may not stand there. */
import { LlmError, Message, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import type { Transport } from "@kintsugi/providers"
import { Context, Effect, Schedule } from "effect"
import { describe, it } from "vitest"

class Db extends Context.Service<Db, { readonly find: Effect.Effect<Message.Reply> }>()("Db") {}
const reply = ScriptedModel.reply({ content: [Message.text("instead")] })
const options = (retry: Transport.Options["retry"] & {}): Transport.Options => ({ retry })

describe("the retry of a transport", () => {
  it("is options, a schedule, or a table whose rows answer with replies [P1321]", () => {
    options({ retries: 2 })
    options(Schedule.recurs(2))
    options(false)
    options({
      RateLimitError: Schedule.recurs(2),
      ServerError: () => Effect.succeed(reply),
      NetworkError: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith(reply)),
      orElse: (error, { attempt }) =>
        error.isRetryable && attempt < 2 ? Recovery.retry({ retries: 1 }) : Recovery.rethrow
    })
    options({ RateLimitError: () => Effect.fail(LlmError.ModelOverloadedError.make({ model: "m" })) })
  })

  it("has no row that fails otherwise, needs something, answers with text, or talks to a model [P1309 P1321]", () => {
    // @ts-expect-error a model has no such failure
    options({ ServerError: () => Effect.fail("no failure of a model") })
    // @ts-expect-error nothing gives it the service
    options({ ServerError: () => Effect.flatMap(Db, ({ find }) => find) })
    // @ts-expect-error a server answers with replies
    options({ ServerError: Recovery.respondWith("text") })
    // @ts-expect-error no model reads it
    options({ ServerError: Recovery.tell() })
    // @ts-expect-error there is no such failure of a model
    options({ Busy: Recovery.rethrow })
  })
})
