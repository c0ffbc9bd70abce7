/** One model call over loopback, by the OpenAI provider and by Effect's `HttpClient` alone, and by `fetch`: in turn, and 64 at once. */
import { Message, Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { type Figure, report, times } from "../figures.ts"
import { assertEqual, interleaved, type Subject, typical } from "../harness.ts"
import { answer, withServer } from "../loopback.ts"

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

const portions = <R>(
  name: string,
  call: Effect.Effect<string, unknown, R>,
  runtime: ManagedRuntime.ManagedRuntime<R, unknown>
): ReadonlyArray<Subject> => {
  const portion = (concurrency: number) => async () => {
    const all = Effect.forEach(Array.from({ length: calls }), () => call, { concurrency })
    const said = await runtime.runPromise(all)
    assertEqual(name, said.filter((one) => one === answer).length, calls)
  }
  return [
    { name: `${name}, in turn`, portion: portion(1) },
    { name: `${name}, ${atOnce} at once`, portion: portion(atOnce) }
  ]
}

await withServer(async (url) => {
  const bareRuntime = ManagedRuntime.make(FetchHttpClient.layer)
  const layer = OpenAi.layer({ model: "m", apiKey: Redacted.make("bench-key"), baseUrl: url })
  const ourRuntime = ManagedRuntime.make(Layer.provide(layer, Transport.layerFetch))
  const fetchRuntime = ManagedRuntime.make(Layer.empty)
  const samples = await interleaved(
    [
      ...portions(
        "fetch",
        Effect.promise(() => byFetch(url)),
        fetchRuntime
      ),
      ...portions("bare HttpClient", byEffect(url), bareRuntime),
      ...portions("ours", byUs, ourRuntime)
    ],
    { laps: 15 }
  )
  const each = (name: string): Figure => ({ name, value: (typical(samples, name) * 1000) / calls, unit: "µs" })
  const ways = ["in turn", `${atOnce} at once`]
  report("an HTTP call over loopback", [
    ...ways.flatMap((way) => ["fetch", "bare HttpClient", "ours"].map((name) => each(`${name}, ${way}`))),
    ...ways.flatMap((way) => [
      times(`bare HttpClient to fetch, ${way}`, samples, [`bare HttpClient, ${way}`, `fetch, ${way}`]),
      times(`ours to bare HttpClient, ${way}`, samples, [`ours, ${way}`, `bare HttpClient, ${way}`], {
        most: 1.1,
        margin: 0.15
      }),
      times(`ours to bare HttpClient, ${way}, processor`, samples, [`ours, ${way}`, `bare HttpClient, ${way}`], {
        measure: "cpu"
      })
    ])
  ])
  await Promise.all([bareRuntime.dispose(), ourRuntime.dispose(), fetchRuntime.dispose()])
})
