/** Which stored reply a request continues, and what it sends after it. Whole dialogues are in `service/chained.test.ts`. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { Redacted, Result, type Schema } from "effect"
import { make } from "../../../../packages/providers/src/codec/openai-responses/chain.ts"
import { answer } from "../../../_support/wireFixtures.ts"
import { plain, result } from "./_support/requests.ts"
import { call, codec, type Item, message, response, source } from "./_support/responses.ts"

const chainOf = (secret: string) => make({ ...source, secrets: [Redacted.make(secret)] }, ["https://api.test/v1"])
const chain = chainOf("sk-one")
const more = Message.user("more")

const replyTo = (output: ReadonlyArray<Item>, request = plain): Message.Reply =>
  Result.getOrThrow(chain.around(codec).decode(answer(200, response(output)), request))

const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } }

/** A message with each of its parts changed once. */
const changed = (
  reply: Message.Assistant,
  change: (part: Message.Assistant["content"][number]) => ReadonlyArray<Message.Assistant["content"][number]>
): ReadonlyArray<Message.Assistant> =>
  reply.content.flatMap((part, at) =>
    change(part).map((other) => ({ ...reply, content: reply.content.with(at, other) }))
  )

describe("the item with the id of a reply", () => {
  const dataOf = (reply: Message.Reply): Schema.JsonObject => {
    const last = reply.content.at(-1)
    assert(last?.type === "provider-item" && last.kind === "stored_response")
    return last.opaque.data as Schema.JsonObject // the item above has an object
  }

  it("has the id, four characters of the account, and the schema of the output as a digest; there is none without an id, an end, words, or a store [P1416]", () => {
    const { account, id, output, reply } = dataOf(replyTo([message("fine")]))
    assert.deepStrictEqual([id, output], ["resp_1", ""])
    assert.match(String(account), /^[\da-z]{4}$/)
    assert.match(String(reply), /^[\da-z]{5,}$/)
    const asked = { ...plain, output: { name: "list", schema: { type: "array" } } }
    assert.match(String(dataOf(replyTo([message("fine")], asked))["output"]), /^[\da-z]{5,}$/)

    const isNamed = (body: Item, options?: Schema.JsonObject) =>
      Result.getOrThrow(
        chain.around(codec).decode(answer(200, body), options === undefined ? plain : { ...plain, options })
      ).content.some((part) => part.type === "provider-item" && part.kind === "stored_response")
    const usual = response([message("fine")])
    assert.isTrue(isNamed(usual))
    assert.isTrue(isNamed(usual, { store: true }))
    assert.isFalse(isNamed({ ...usual, id: "" }))
    assert.isFalse(isNamed({ ...usual, status: "incomplete" }))
    assert.isFalse(
      isNamed(response([{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] }]))
    )
    for (const options of [{ store: false }, { previous_response_id: "r" }, { conversation: "c" }]) {
      assert.isFalse(isNamed(usual, options), JSON.stringify(options))
    }
  })
})

describe("a request", () => {
  const replied = Message.settle(replyTo([search, call("a", '{"q":1}'), message("fine")]), [result("ok")])
  const linkIn = (...messages: Message.Transcript) => chain.linkIn({ messages })

  it("continues the last reply with the answers to its calls and the messages after it [P1416]", () => {
    const answers = [{ type: "function_call_output", call_id: "call_a", output: "ok" }]
    assert.deepStrictEqual(linkIn(replied), { id: "resp_1", answers, messages: [] })
    assert.deepStrictEqual(linkIn(Message.user("go"), replied, more), { id: "resp_1", answers, messages: [more] })
    const silent = Message.settle(replyTo([message("fine")]), [])
    assert.deepStrictEqual(linkIn(silent, more), { id: "resp_1", answers: [], messages: [more] })
    assert.isUndefined(linkIn(silent))
    assert.isUndefined(linkIn(more))
  })

  it("continues no reply that has changed or is incomplete, of another account, or beside another output [P1416]", () => {
    const others = changed(replied, (part) => {
      switch (part.type) {
        case "text":
          return [Message.text("bad")]
        case "provider-item":
          return part.kind === "web_search_call"
            ? [
                { ...part, kind: "file_search_call" },
                { ...part, opaque: { ...part.opaque, data: { ...search, status: "failed" } } }
              ]
            : []
        case "settled-call":
          return [{ id: "call_b" }, { name: "find" }, { arguments: '{"q":2}' }].map((other) => ({
            ...part,
            call: { ...part.call, ...other }
          }))
        default:
          return []
      }
    })
    assert.lengthOf(others, 6)
    for (const other of others) assert.isUndefined(linkIn(other, more), JSON.stringify(other))
    assert.isUndefined(linkIn({ ...replied, incomplete: true }, more))

    const output = { name: "list", schema: { type: "array" } }
    assert.isUndefined(chainOf("sk-two").linkIn({ messages: [replied, more] }))
    assert.isUndefined(chain.linkIn({ messages: [replied, more], output }))
    assert.isDefined(chain.linkIn({ messages: [replied, more], options: { user: "u" } }))
    for (const options of [{ previous_response_id: "r" }, { conversation: "c" }]) {
      assert.isUndefined(chain.linkIn({ messages: [replied, more], options }))
    }
    const azure = make({ ...source, provider: "azure", secrets: [Redacted.make("sk-one")] }, ["https://api.test/v1"])
    assert.isUndefined(azure.linkIn({ messages: [replied, more] }))
  })
})

describe("a stored reply", () => {
  const wrapped = chain.around(codec)
  const replied = Message.settle(replyTo([message("fine")]), [])
  const request = { ...plain, messages: [Message.user("go"), replied, more] }
  const anew = (status: number, error: Item) => wrapped.anew?.(wrapped.classify(answer(status, { error })), request)
  const whole = {
    ...request,
    messages: [
      Message.user("go"),
      { ...replied, content: replied.content.filter((part) => part.type !== "provider-item") },
      more
    ]
  }

  it("that the provider does not have is left out of the next request, by its code, field, id or words [P1416]", () => {
    for (const [status, error] of [
      [401, { message: "No.", code: "previous_response_not_found" }],
      [401, { message: "No.", param: "previous_response_id" }],
      [400, { message: "There is no resp_1." }],
      [400, { message: "The Previous Response is gone." }],
      [404, { message: "The field previous_response_id names nothing." }],
      [400, { message: "Response not found." }],
      [400, { message: "The response has expired." }]
    ] as const) {
      assert.deepStrictEqual(anew(status, error), whole, JSON.stringify(error))
    }
  })

  it("is named once more after other errors, and after these words for another reason [P1416]", () => {
    for (const [status, error] of [
      [400, { message: "The input is invalid." }],
      [401, { message: "Response not found." }],
      [429, { message: "The response has expired." }]
    ] as const) {
      assert.isUndefined(anew(status, error), JSON.stringify(error))
    }
    const lost = wrapped.classify(answer(400, { error: { message: "Response not found." } }))
    assert.isUndefined(wrapped.anew?.(lost, { ...plain, messages: [more] }))
    // an error of another codec has no report
    assert.isUndefined(
      wrapped.anew?.(codec.classify(answer(400, { error: { message: "There is no resp_1." } })), request)
    )
  })
})
