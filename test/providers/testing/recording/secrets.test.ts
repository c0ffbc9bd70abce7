/** Secrets that must not reach the file of a recording, in any position; and content that stays unchanged. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer, Recording } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Body from "../../../../packages/providers/src/testing/recording/body.ts"
import * as Split from "../../../../packages/providers/src/testing/split.ts"
import { Secrets } from "../../../../packages/providers/src/testing/recording/secrets.ts"
import { folder, key, models, read, recorded, replayed } from "./_support/recordings.ts"
import { request } from "../../../_support/network.ts"

const tenant = "purple monkey dishwasher"
const shaped = "sk-proj-abcdefghijklmnop1234567890"
const cookie = "chocolate-with-nuts-42"
const account = "the-account-of-Ada-0815"

/** Everything that stands for a secret, in the forms in which it may come back. */
const all = [
  shaped,
  ...[key, tenant, cookie, account].flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64").replaceAll("=", "").slice(0, -1)
  ])
]

const parrot = (words: string) =>
  AnyWire.handler(() =>
    Effect.succeed({
      content: [
        Message.text(words),
        { type: "tool-call", id: "c1", name: "look", arguments: JSON.stringify({ words }) }
      ]
    })
  )

const ask = (words: string, isStreamed: boolean) =>
  Effect.flatMap(Model.Model, (model): Effect.Effect<string, unknown> => {
    const asked = { ...request, messages: [Message.user(words)] }
    if (!isStreamed) return Effect.map(model.generate(asked), (reply) => JSON.stringify(reply.content))
    return Effect.map(Stream.runCollect(model.stream(asked)), (parts) => {
      const collector = new Model.Collector()
      for (const part of parts) collector.push(part)
      return JSON.stringify(collector.reply()?.content)
    })
  })

describe("secrets", () => {
  for (const [format, modelAt] of Object.entries(models)) {
    for (const isStreamed of [false, true]) {
      it.live(
        `never reach the file, sent by either side in ${format} (${isStreamed ? "streamed" : "whole"}) [P202]`,
        () =>
          Effect.gen(function* () {
            const file = join(yield* folder, "secrets.json")
            const words = `The keys are ${all.join(" and ")}, ${JSON.stringify({ inside: `Bearer ${key}` })} so far.`
            // Ollama has only the keys in its headers
            const headers = {
              // of which no name tells that it is one
              "x-door": Redacted.make(tenant),
              "x-api-key": key,
              "openai-organization": account,
              cookie: `a=${cookie}`
            }
            const { url } = yield* LoopbackServer.make((received) =>
              Effect.map(parrot(words)(received), (answer) => ({
                ...answer,
                headers: {
                  ...answer.headers,
                  "set-cookie": `session=${cookie}; Path=/`,
                  "x-account-id": account,
                  "x-request-id": "r-1"
                },
                split: { every: 7 }
              }))
            )
            const said = yield* ask(words, isStreamed).pipe(
              Effect.provide(modelAt(`${url}`, key, headers)),
              Effect.provide(recorded(file))
            )
            for (const secret of [key, tenant, shaped]) assert.include(said, secret)
            const { exchanges, text } = read(file)
            for (const secret of all) assert.notInclude(text, secret)
            assert.deepStrictEqual(
              Object.keys(exchanges[0]?.response?.headers ?? {})
                .toSorted()
                .filter((name) => name !== "date" && name !== "request-id"),
              ["content-type", "x-request-id"]
            )
            // no piece of one that could be put together
            for (const secret of [key, shaped, cookie]) {
              for (let at = 0; at + 8 <= secret.length; at++) {
                const piece = secret.slice(at, at + 8)
                if (!/^[a-z]+$/.test(piece)) assert.notInclude(text, piece)
              }
            }
            // another key, in another place: what stood there does not matter
            const replay = yield* ask(words.replaceAll(key, "some-other-key"), isStreamed).pipe(
              Effect.provide(modelAt("http://127.0.0.1:9", "some-other-key", headers)),
              Effect.provide(replayed(file))
            )
            assert.include(replay, "The keys are <redacted>")
            assert.match(replay, /so far\./)
          })
      )
    }
  }

  it.live(
    "in parameters of a URL and fields of bodies that are called like a key are left out, and words of models stay [P202]",
    () =>
      Effect.gen(function* () {
        const file = join(yield* folder, "fields.json")
        const hidden = ["value-1", "value-2", "value-3", "value-4", "value-5", "value-6", "value-7"]
        const [access, refresh, old, client, mcp, camel, pass] = hidden
        const harmless = { logprobs: [{ token: "Hello" }], signature: "a-signature", key: "a-field" }
        const { url } = yield* LoopbackServer.make(() =>
          Effect.succeed({
            body: JSON.stringify({ access_token: access, refresh_token: refresh, heard: camel, ...harmless })
          })
        )
        const send = (body: Parameters<typeof HttpClientRequest.setBody>[1], at: string, query = "") =>
          Effect.flatMap(Effect.service(Transport.HttpClient), (client) =>
            Effect.flatMap(
              client.execute(HttpClientRequest.setBody(HttpClientRequest.post(`${at}/token${query}`), body)),
              ({ json }) => json
            )
          )
        const form = (token: string) => HttpBody.text(`grant=refresh&refresh_token=${token}&client_secret=${client}`)
        const tools = HttpBody.jsonUnsafe({ tools: [{ type: "mcp", authorization: mcp, url: "u" }], password: "" })
        yield* Effect.provide(
          Effect.andThen(send(form(old ?? ""), url, `?accessToken=${camel}&pass=${pass}&v=1`), send(tools, url)),
          recorded(file)
        )
        const { exchanges, text } = read(file)
        for (const secret of hidden) assert.notInclude(text, secret)
        assert.strictEqual(exchanges[0]?.request.path, "/token?v=1")
        assert.deepStrictEqual(exchanges[0]?.response?.json, {
          access_token: "<redacted>",
          refresh_token: "<redacted>",
          heard: "<redacted>",
          ...harmless
        })
        assert.include(text, '"grant=refresh&refresh_token=<redacted>&client_secret=<redacted>"')
        // the replaced values do not matter: it is the same request
        const replay = send(form("another"), "http://127.0.0.1:9", "?pass=another&v=1")
        assert.deepInclude(yield* Effect.provide(replay, replayed(file)), harmless)
      })
  )

  it.live("in cookies are their values: the words of their attributes stay [P202]", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "cookie.json")
      const attributes = "Path=/; Expires=Wed, 21-Oct-26 07:28:00 GMT; HttpOnly; Secure; SameSite=None"
      const words = "None of the HttpOnly cookies is Secure; SameSite=None until 21-Oct-26 07:28:00 GMT."
      const { url } = yield* LoopbackServer.make((received) =>
        Effect.map(parrot(`${words} But ${cookie}.`)(received), (answer) => ({
          ...answer,
          headers: { ...answer.headers, "set-cookie": `__session=${cookie}; ${attributes}` }
        }))
      )
      const openAi = models["openai-chat"]!
      yield* ask(words, false).pipe(Effect.provide(openAi(url)), Effect.provide(recorded(file)))
      assert.notInclude(read(file).text, cookie)
      const replay = ask(words, false).pipe(Effect.provide(openAi(url)), Effect.provide(replayed(file)))
      assert.include(yield* replay, `${words} But <redacted>.`)
    })
  )

  it.live("that are found late are removed from exchanges written earlier [P202]", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "late.json")
      // the process knows the key of each model from the moment that its layer is made
      const late = "L4te-0815-Key-4711-known"
      const { url } = yield* LoopbackServer.make(parrot("Hello."))
      const talk = Effect.gen(function* () {
        yield* Effect.provide(ask(`Once: ${late}`, false), models["openai-chat"](url, "a-first-key-of-all"))
        assert.include(readFileSync(file, "utf8"), late)
        yield* Effect.provide(ask("Twice", false), models["openai-chat"](url, late))
      })
      yield* Effect.provide(talk, recorded(file))
      assert.notInclude(readFileSync(file, "utf8"), late)
    })
  )
})

describe("secrets that no header has", () => {
  it.live("are redacted if they are named, whole and streamed, in replies and in requests", () =>
    Effect.gen(function* () {
      const other = "key-of-another-service-4711"
      const { url } = yield* LoopbackServer.make(parrot(`It is ${other}, or ${btoa(other)}.`))
      for (const isStreamed of [false, true]) {
        const file = join(yield* folder, "named.json")
        const secrets = [Redacted.make(`${other}\n`), Redacted.make("")]
        const record = Layer.orDie(Layer.provide(Recording.record(file, { secrets }), Transport.layerFetch))
        const said = yield* ask(`Is it ${other}?`, isStreamed).pipe(
          Effect.provide(models["openai-chat"](url)),
          Effect.provide(record)
        )
        assert.include(said, other)
        const { text } = read(file)
        assert.include(text, "It is ")
        assert.notMatch(text, /key-of|another|service|4711/)
        assert.notInclude(text, btoa(other).slice(0, 12))
      }
    })
  )
})

describe("bodies", () => {
  it("that are JSON come back as they were laid out", () => {
    const layouts = [(value: unknown) => JSON.stringify(value), (value: unknown) => JSON.stringify(value, null, 2)]
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), fc.constantFrom(...layouts), (json, print) => {
        const text = print(JSON.parse(json))
        const stored = Body.store([new TextEncoder().encode(text)], true, new Secrets())
        assert.isUndefined(stored.chunks)
        assert.strictEqual(new TextDecoder().decode(Body.joined(Body.restore(stored))), text)
      })
    )
    const spaced = '{"a" : 1}'
    const stored = Body.store([new TextEncoder().encode(spaced)], true, new Secrets())
    assert.deepStrictEqual(stored, { chunks: [spaced] })
  })

  it("lose a secret however its events and pieces divide it, and keep all else [P202]", () => {
    const secrets = new Secrets()
    secrets.note({ "x-api-key": key }, () => false)
    const encoder = new TextEncoder()
    const event = (text: string) => `data: ${JSON.stringify({ delta: { text }, id: "m1" })}\n\n`
    const ends = [encoder.encode(""), encoder.encode("é").subarray(0, 1)]
    const body = (texts: ReadonlyArray<string>, end: Uint8Array) =>
      Body.joined([encoder.encode(`${texts.map(event).join("")}: ü\n`), end])
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: key.length - 1 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(...ends),
        (cuts, every, end) => {
          const stops = [...cuts.toSorted((a, b) => a - b), key.length]
          const bits = stops.map((stop, at) => key.slice(stops[at - 1] ?? 0, stop))
          const sent = Split.pieces(body(["It is ", ...bits, ", I think."], end), { every })
          const back = Body.restore(Body.store(sent, false, secrets))
          const clean =
            bits.length === 1
              ? ["It is ", "<redacted>", ", I think."]
              : ["It is <redacted>, I think.", ...bits.map(() => ""), ""]
          assert.deepStrictEqual(Body.joined(back), body(clean, end))
          assert.isAtMost(back.length, sent.length)
        }
      )
    )
  })

  it("that are no text lose a secret wherever they were cut, and are as before without one [P202]", () => {
    const secrets = new Secrets()
    secrets.note({ "x-api-key": key }, () => false)
    const bytes = Uint8Array.of(0xff, ...new TextEncoder().encode(`${key}.`), 0xfe)
    const stored = Body.restore(Body.store(Split.pieces(bytes, { every: 6 }), false, secrets))
    assert.deepStrictEqual([...Body.joined(stored)], [0xff, ...new TextEncoder().encode("<redacted>."), 0xfe])
    const plain = [Uint8Array.of(0xff, 65), Uint8Array.of(66, 0xfe)]
    assert.deepStrictEqual(Body.restore(Body.store(plain, false, secrets)), plain)
  })
})
