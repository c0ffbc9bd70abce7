/** interop: tools of APIs. */
import { Tool } from "@kintsugi/core"
import { Effect, Layer, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Failure from "../../../packages/interop/src/api/failure.ts"
import * as HttpApiTools from "../../../packages/interop/src/api/HttpApiTools.ts"
import * as Names from "../../../packages/interop/src/api/names.ts"
import { documents, many, texts } from "./data.ts"
import { each, fixed, grows, type Inputs, merged, none, reached, schema, type Table } from "./entry.ts"

const where: Failure.Where = { api: "shop", operation: "find" }

/** A client whose server always answers so. */
const answering = (body: string, status: number) =>
  Layer.provide(
    FetchHttpClient.layer,
    Layer.succeed(FetchHttpClient.Fetch, async () => new Response(body, { status }))
  )

const maxResponseBytes = Number.MAX_SAFE_INTEGER

const { echo } = HttpApiTools.fromApi(
  HttpApi.make("api").add(
    HttpApiGroup.make("top", { topLevel: true }).add(
      HttpApiEndpoint.post("echo", "/:id", {
        params: { id: Schema.String },
        payload: Schema.Json,
        success: Schema.Json
      })
    )
  ),
  { baseUrl: "http://api.test", maxResponseBytes }
)

const echoed = (text: string, body: string, status: number) =>
  Effect.runPromiseExit(
    Tool.call(echo, { params: { id: text }, payload: text }).pipe(Effect.provide(answering(body, status)))
  )

const names: Inputs<ReadonlyArray<string>> = {
  "many names": (size) => many(size, 8, (n) => `n${n}`),
  "many odd names": (size) => many(size, 8, (n) => `n ${n}!`),
  "many names that collide": (size) => many(size, 8, (n) => `${"a".repeat(64)}${n}`),
  "a long name": (size) => ["a ".repeat(size / 2)],
  "long names": (size) => ["a".repeat(size / 2), "b".repeat(size / 2)]
}

export const interopApi: Table = {
  "interop/src/api/ApiError.ts": each(schema, "ApiError"),
  "interop/src/api/HttpApiTools.ts": {
    fromApi: merged({
      arguments: grows(texts, (text) => echoed(text, "1", 200)),
      answers: grows({ ...texts, ...documents }, (text) => echoed("a", JSON.stringify(text), 200)),
      bodies: grows({ ...texts, ...documents }, (body) => echoed("a", body, 200)),
      failures: grows(texts, (body) => echoed("a", body, 422))
    }),
    ...each(none("is fromApi for one group"), "fromGroup")
  },
  "interop/src/api/answer.ts": {
    ...each(fixed, "boundOf"),
    ...each(reached, "within", "beginning", "textOf")
  },
  "interop/src/api/endpoint.ts": each(reached, "isPlain", "toolOf"),
  "interop/src/api/failure.ts": {
    fromStatus: merged({
      bodies: grows(texts, (text) => Failure.fromStatus(where, { status: 422, text, retryAfter: undefined }, 0)),
      waits: grows(texts, (retryAfter) => Failure.fromStatus(where, { status: 429, text: "", retryAfter }, 0))
    }),
    misfit: grows(texts, (text) => Failure.misfit({ api: text, operation: text }, text)),
    ...each(none("joins a sentence of this library with the names of the operation, which are cut"), "unsendable"),
    ...each(none("takes numbers, and the names of the operation, which are cut"), "tooLarge")
  },
  "interop/src/api/names.ts": { namesOf: grows(names, (all) => Names.namesOf("api", all, all)) },
  "interop/src/api/options.ts": each(fixed, "lengthOf", "effectOf")
}
