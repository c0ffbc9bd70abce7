/**
 * One model call over loopback, by the OpenAI provider, by Effect's `HttpClient` alone, and by `fetch`: one after the other, and 64 at once;
 * with replies that declare their length, that are chunked, and that are chunked and compressed.
 */
import { Message, Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { beyond, each, type Figure, report, times } from "../figures.ts"
import { assertEqual, interleaved, type Subject } from "../harness.ts"
import { answer, type Encoding, encodings, withServer } from "../loopback.ts"

const calls = 512
const atOnce = 64
const body = { model: "m", messages: [{ role: "user", content: "go" }] }

const byFetch = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer bench-key" },
    body: JSON.stringify(body)
  })
  const json = (await response.json()) as { readonly choices: ReadonlyArray<{ message: { content: string } }> }
  return json.choices[0]?.message.content ?? ""
}

const byEffect = (url: string) =>
  Effect.gen(function* () {
    const response = yield* HttpClientRequest.post(`${url}/chat/completions`).pipe(
      HttpClientRequest.bearerToken("bench-key"),
      HttpClientRequest.bodyJsonUnsafe(body),
      HttpClient.execute
    )
    // what the server of this benchmark says
    const json = (yield* response.json) as { readonly choices: ReadonlyArray<{ message: { content: string } }> }
    return json.choices[0]?.message.content ?? ""
  })

const request: Model.Request = { messages: [Message.user("go")], tools: [], toolChoice: "auto" }

const byUs = Effect.gen(function* () {
  const model = yield* Model.Model
  return Message.textOf(yield* model.generate(request))
})

type Way = (typeof ways)[number]["way"]

const ways = [
  { way: "one after the other", concurrency: 1 },
  { way: `${atOnce} at once`, concurrency: atOnce }
] as const

const nameOf = (who: string, encoding: Encoding, way: Way): string => `${who}, ${encoding}, ${way}`

const portions = <R>(
  who: string,
  encoding: Encoding,
  call: Effect.Effect<string, unknown, R>,
  runtime: ManagedRuntime.ManagedRuntime<R, unknown>
): ReadonlyArray<Subject> =>
  ways.map(({ concurrency, way }) => ({
    name: nameOf(who, encoding, way),
    portion: async () => {
      const all = Effect.forEach(Array.from({ length: calls }), () => call, { concurrency })
      const said = await runtime.runPromise(all)
      assertEqual(who, said.filter((one) => one === answer).length, calls)
    }
  }))

/** How much more processor time a call may take than one of the bare client. */
const most = (encoding: Encoding, way: Way): { readonly most?: number } =>
  way === "one after the other" ? { most: 20 } : encoding === "chunked" ? { most: 30 } : {}

await withServer(async (url) => {
  const bareRuntime = ManagedRuntime.make(FetchHttpClient.layer)
  const fetchRuntime = ManagedRuntime.make(Layer.empty)
  const ourRuntimes = encodings.map((encoding) => {
    const layer = OpenAi.layer({ model: "m", apiKey: Redacted.make("bench-key"), baseUrl: `${url}/${encoding}` })
    return { encoding, runtime: ManagedRuntime.make(Layer.provide(layer, Transport.layerFetch)) }
  })
  const fetching = Effect.promise(() => byFetch(`${url}/chunked`))
  const samples = await interleaved(
    [
      ...portions("fetch", "chunked", fetching, fetchRuntime),
      ...ourRuntimes.flatMap(({ encoding, runtime }) => [
        ...portions("bare HttpClient", encoding, byEffect(`${url}/${encoding}`), bareRuntime),
        ...portions("ours", encoding, byUs, runtime)
      ])
    ],
    { laps: 15 }
  )
  const inWays = (of: (encoding: Encoding, way: Way) => ReadonlyArray<Figure>) =>
    encodings.flatMap((encoding) => ways.flatMap(({ way }) => of(encoding, way)))
  report("an HTTP call over loopback", [
    ...ways.flatMap(({ way }) => each(samples, nameOf("fetch", "chunked", way), calls)),
    ...inWays((encoding, way) =>
      ["bare HttpClient", "ours"].flatMap((who) => each(samples, nameOf(who, encoding, way), calls))
    ),
    ...inWays((encoding, way) => {
      const pair = [nameOf("ours", encoding, way), nameOf("bare HttpClient", encoding, way)] as const
      return [
        beyond(`ours beyond bare HttpClient, ${encoding}, ${way}, processor`, samples, pair, {
          units: calls,
          ...most(encoding, way)
        })
      ]
    }),
    ...ways.map(({ way }) => {
      const pair = [nameOf("ours", "chunked", way), nameOf("bare HttpClient", "chunked", way)] as const
      return times(`ours to bare HttpClient, chunked, ${way}, processor`, samples, pair, {
        measure: "cpu",
        margin: 0.1
      })
    })
  ])
  await Promise.all(
    [bareRuntime, fetchRuntime, ...ourRuntimes.map(({ runtime }) => runtime)].map((one) => one.dispose())
  )
})
