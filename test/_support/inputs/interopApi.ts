/** interop: tools of APIs. */
import { Tool } from "@kintsugi/core"
import { Effect, Layer, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Answer from "../../../packages/interop/src/api/answer.ts"
import * as Failure from "../../../packages/interop/src/api/failure.ts"
import * as HttpApiTools from "../../../packages/interop/src/api/HttpApiTools.ts"
import * as Names from "../../../packages/interop/src/api/names.ts"
import * as DocumentTools from "../../../packages/interop/src/api/DocumentTools.ts"
import * as Style from "../../../packages/interop/src/api/style.ts"
import { bombs, deepValues, documents, many, schemas, texts, values, wide } from "./data.ts"
import { each, fixed, grows, type Inputs, mapped, merged, none, reached, schema, type Table } from "./entry.ts"

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

const servers = [{ url: "https://api.test" }]

/** A document with these paths. */
const documentOf = (paths: object, fields: object = {}) => ({ openapi: "3.0.0", servers, paths, ...fields })

const bodyOf = (schema: unknown) => ({ requestBody: { content: { "application/json": { schema } } } })

/** A document with one operation. */
const withOne = (operation: object, fields: object = {}) => documentOf({ "/a": { post: operation } }, fields)

const inDefinitions = (schema: Schema.JsonObject) =>
  withOne(bodyOf({ $ref: "#/components/schemas/A" }), {
    components: { schemas: { A: schema } },
    $defs: schema["$defs"]
  })

const chain = (size: number): object =>
  Object.fromEntries(many(size, 60, (n) => [`s${n}`, { items: { $ref: `#/components/schemas/s${n + 1}` } }]))

const properties = (size: number): object => Object.fromEntries(many(size, 24, (n) => [`p${n}`, { type: "string" }]))

/** OpenAPI documents. */
const specifications: Inputs<object> = {
  "many operations": (size) =>
    documentOf(Object.fromEntries(many(size, 60, (n) => [`/a${n}`, { get: { operationId: `o${n}`, responses: {} } }]))),
  "many operations of one name": (size) =>
    documentOf(Object.fromEntries(many(size, 60, (n) => [`/a${n}`, { get: { operationId: "o", responses: {} } }]))),
  "many operations with one schema": (size) =>
    documentOf(
      Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`/a${n}`, { post: bodyOf({ $ref: "#/x" }) }])),
      { x: { properties: properties(size) } }
    ),
  "a chain of references": (size) =>
    withOne(bodyOf({ $ref: "#/components/schemas/s0" }), { components: { schemas: chain(size) } }),
  "many references": (size) =>
    withOne(bodyOf({ oneOf: many(size, 40, () => ({ $ref: "#/components/schemas/A" })) }), {
      components: { schemas: { A: {} } }
    }),
  "many path items with one long reference": (size) => {
    const level = "/a".repeat(200)
    let far: object = { get: { operationId: "o" } }
    for (let n = 0; n < 200; n++) far = { a: far }
    const paths = Object.fromEntries(many(size, 30, (n) => [`/p${n}`, { $ref: "#/x" }]))
    return documentOf(paths, { x: { $ref: `#/far${level}` }, far })
  },
  "many parameters": (size) =>
    withOne({ parameters: many(size, 40, (n) => ({ in: "query", name: `p${n}`, schema: {} })) }),
  "many security schemes": (size) =>
    withOne(
      {},
      {
        components: {
          securitySchemes: Object.fromEntries(
            many(size, 60, (n) => [`s${n}`, { type: "apiKey", in: "query", name: `k${n}` }])
          )
        }
      }
    ),
  "a long path": (size) => documentOf({ [`/${"{a".repeat(size / 2)}`]: { get: {} } }),
  "a path of many parameters that are declared": (size) => {
    const names = many(size, 30, (n) => `p${n}`)
    const parameters = names.map((name) => ({ in: "path", name, schema: {} }))
    return documentOf({ [names.map((name) => `/{${name}}`).join("")]: { get: { parameters } } })
  },
  "a path of many parameters": (size) => documentOf({ [`/${"{a}".repeat(size / 3)}`]: { get: {} } }),
  "a long server": (size) => withOne({}, { servers: [{ url: `http://${"{a".repeat(size / 2)}` }] }),
  "a long reference": (size) => withOne(bodyOf({ $ref: `#${"/a".repeat(size / 2)}` })),
  ...mapped(texts, (text) =>
    withOne({ operationId: text, description: text, ...bodyOf({ description: text, enum: [text] }) })
  ),
  ...mapped({ ...schemas, ...bombs }, inDefinitions),
  ...mapped({ ...values, ...deepValues }, (value) => withOne({ ...bodyOf(value), parameters: value, servers: value }))
}

const options = {
  name: "api",
  hosts: ["api.test"],
  bounds: wide,
  maxNodes: 100_000_000,
  maxTools: 1_000_000,
  maxResponseBytes
}

const ofDocument = (document: object) => Effect.runPromiseExit(DocumentTools.fromDocument(document, options))

const echoing = Effect.runPromise(
  DocumentTools.fromDocument(
    documentOf({
      "/{id}": {
        parameters: [
          { in: "path", name: "id" },
          { in: "query", name: "q" }
        ],
        post: bodyOf({})
      }
    }),
    options
  )
)

/** A call of an operation with these params, that is answered so. */
const operated = async (params: object, body: string, status = 200) => {
  const { tools } = await echoing
  return Effect.runPromiseExit(
    Tool.call(tools[0]!, JSON.stringify(params)).pipe(Effect.provide(answering(body, status)))
  )
}

const parameter = { name: "a", in: "query", isRequired: false, style: "form", isExploded: true } as const

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
    bytesOf: grows(values, (value) => Answer.bytesOf(value)),
    ...each(fixed, "boundOf", "timeOf"),
    ...each(reached, "within", "beginning", "textOf", "inTime")
  },
  "interop/src/api/DocumentTools.ts": {
    fromDocument: merged({
      documents: grows(specifications, ofDocument),
      arguments: grows(texts, (text) => operated({ params: { id: text }, query: { q: text }, payload: text }, "1")),
      values: grows(values, (value) => operated({ params: { id: "a" }, query: { q: value }, payload: value }, "1")),
      bodies: grows({ ...texts, ...documents }, (body) => operated({ params: { id: "a" } }, body)),
      failures: grows(texts, (body) => operated({ params: { id: "a" } }, body, 422))
    })
  },
  "interop/src/api/RpcTools.ts": each(
    none("takes a group of the developer; its client reads the answers by the schemas of the group"),
    "fromGroup"
  ),
  "interop/src/api/documentError.ts": { ...each(schema, "ApiDocumentError"), ...each(reached, "refusal") },
  "interop/src/api/documentSchema.ts": each(reached, "cut", "DocumentSchemas"),
  "interop/src/api/operation.ts": each(reached, "operationsOf", "securityOf", "isDots", "keyOf", "read"),
  "interop/src/api/pointer.ts": each(reached, "isJsonObject", "field", "References"),
  "interop/src/api/request.ts": each(reached, "send"),
  "interop/src/api/server.ts": each(reached, "isAllowed", "addressOf"),
  "interop/src/api/style.ts": {
    simple: grows(values, (value) => Style.simple(parameter, value)),
    pairs: grows(values, (value) => Style.pairs(parameter, value))
  },
  "interop/src/api/endpoint.ts": {
    ...each(none("reads an endpoint of the developer"), "isPlain"),
    ...each(reached, "toolOf")
  },
  "interop/src/api/failure.ts": {
    fromStatus: merged({
      bodies: grows(texts, (text) => Failure.fromStatus(where, { status: 422, text, retryAfter: undefined }, 0)),
      waits: grows(texts, (retryAfter) => Failure.fromStatus(where, { status: 429, text: "", retryAfter }, 0))
    }),
    misfit: grows(texts, (text) => Failure.misfit({ api: text, operation: text }, text)),
    ...each(none("joins a sentence of this library with the names of the operation, which are cut"), "unsendable"),
    ...each(none("takes numbers, and the names of the operation, which are cut"), "tooLarge", "late")
  },
  "interop/src/api/names.ts": { namesOf: grows(names, (all) => Names.namesOf("api", all, all)) },
  "interop/src/api/options.ts": each(fixed, "lengthOf", "effectOf")
}
