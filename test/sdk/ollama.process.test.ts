/** `ollama` as a judge of the loopback server. */
import { assert, describe, it } from "@effect/vitest"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { type ChatResponse, type Message, Ollama } from "ollama"
import { city, drain, greeting, key, serving, thrownBy, until, weatherSchema } from "./playing.ts"

const clientAt = (host: string, apiKey = key) => new Ollama({ host, headers: { authorization: `Bearer ${apiKey}` } })

const asked: Message = { role: "user", content: "hello" }

const plain = { model: "m", messages: [asked] }

const withTool = {
  ...plain,
  tools: [{ type: "function", function: { name: "weather", description: "", parameters: weatherSchema } }]
}

const textOf = (responses: ReadonlyArray<ChatResponse>) => responses.map(({ message }) => message.content).join("")

describe("ollama", () => {
  it.live("reads a text, whole and streamed, with the same usage", () =>
    Effect.gen(function* () {
      const client = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => client.chat(plain))
      const streamed = yield* Effect.promise(async () => drain(await client.chat({ ...plain, stream: true })))
      for (const responses of [[whole], streamed]) {
        assert.strictEqual(textOf(responses), greeting)
        assert.deepInclude(responses.at(-1), {
          done: true,
          done_reason: "stop",
          prompt_eval_count: 20,
          eval_count: 9
        })
      }
      assert.isAbove(streamed.length, 2)
    })
  )

  it.live("reads parallel calls, whole and streamed, and sends their results", () =>
    Effect.gen(function* () {
      const client = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => client.chat(withTool))
      const streamed = yield* Effect.promise(async () => drain(await client.chat({ ...withTool, stream: true })))
      for (const responses of [[whole], streamed]) {
        const calls = responses.flatMap(({ message }) => message.tool_calls ?? [])
        assert.deepStrictEqual(
          calls.map(({ function: { arguments: args, name } }) => ({ args, name })),
          [
            { args: city, name: "weather" },
            { args: { city: "Oslo" }, name: "weather" }
          ]
        )
        assert.strictEqual(responses.map(({ message }) => message.thinking ?? "").join(""), "The weather is asked for.")
        const results = calls.map((call, index) => ({
          role: "tool",
          content: `${index}°`,
          tool_name: call.function.name
        }))
        const messages = [asked, { role: "assistant", content: "", tool_calls: calls }, ...results]
        const answer = yield* Effect.promise(() => client.chat({ ...withTool, messages }))
        assert.strictEqual(answer.message.content, "It is 0° and 1°.")
      }
    })
  )

  it.live("throws its own error for each failure, with its status", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([
        AnyWire.failing({ type: "rate-limited" }),
        AnyWire.failing({ type: "overloaded" }),
        AnyWire.failing({ type: "server-error" })
      ])
      const ask = (apiKey?: string, model = "m") => thrownBy(() => clientAt(url, apiKey).chat({ ...plain, model }))
      for (const expected of [
        { status_code: 429, error: "too many requests" },
        { status_code: 503, error: "server busy, please try again.  maximum pending requests exceeded" },
        { status_code: 500, error: "llama runner process has terminated: exit status 2" }
      ]) {
        // the class is not exported
        assert.deepInclude(yield* ask(), { name: "ResponseError", ...expected })
      }
      assert.deepInclude(yield* ask("sk-the-wrong-one"), { name: "ResponseError", status_code: 401 })
      assert.deepInclude(yield* ask(key, "missing"), { status_code: 404, error: "model 'missing' not found" })
    })
  )

  it.live("throws in the middle of a stream, after its text", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([AnyWire.breakingOff({ type: "server-error" }, 2)])
      let text = ""
      const thrown = yield* thrownBy(async () =>
        until(await clientAt(url).chat({ ...plain, stream: true }), ({ message }) => {
          text += message.content
        })
      )
      assert(thrown instanceof Error)
      assert.match(thrown.message, /llama runner process has terminated/)
      assert.strictEqual(text, "grüße 🙂, fiv")
    })
  )
})
