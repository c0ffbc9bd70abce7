/** Errors that a server writes as JSON by itself, behind the events of a stream. */
import { assert, it } from "@effect/vitest"
import { Model } from "@kintsugi/core"
import { Effect, Stream } from "effect"
import {
  body,
  failureOf,
  fakeNetwork,
  finishChunk,
  openAi,
  request,
  respondWith,
  textChunk
} from "../../_support/network.ts"

it.effect("an error behind a reply without `[DONE]` ends the stream before the reply's end", () =>
  Effect.gen(function* () {
    const chunks = [textChunk("hello"), finishChunk(), '{"error":{"message":"boom"}}']
    const network = fakeNetwork([respondWith(200, () => body(chunks))])
    const types: Array<string> = []
    const exit = yield* Effect.flatMap(Model.Model, ({ stream }) =>
      Effect.exit(Stream.runForEach(stream(request), ({ type }) => Effect.sync(() => types.push(type))))
    ).pipe(Effect.provide(openAi({ retry: false })), Effect.provide(network.layer))
    assert.include(failureOf(exit).message, "boom")
    assert.deepStrictEqual(types, ["text-delta"])
  })
)
