/** An API of a shop, and servers that answer its requests: a function, or a loopback server. */
import { Effect, Layer, Schema } from "effect"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import { createServer } from "node:http"

class NoSuchBook extends Schema.TaggedError<NoSuchBook>()(
  "NoSuchBook",
  { isbn: Schema.String },
  { httpApiStatus: 404 }
) {}

class SoldOut extends Schema.TaggedError<SoldOut>()("SoldOut", {}, { httpApiStatus: 409 }) {}

const Book = Schema.Struct({ isbn: Schema.String, price: Schema.Finite, printed: Schema.Date })

export const books = HttpApiGroup.make("books").add(
  HttpApiEndpoint.get("find", "/books/:isbn", {
    params: { isbn: Schema.String },
    query: { edition: Schema.optionalKey(Schema.Int) },
    headers: { "accept-language": Schema.optionalKey(Schema.String), "x-tenant": Schema.String },
    success: Book,
    error: NoSuchBook
  }).annotate(OpenApi.Description, "Finds a book."),
  HttpApiEndpoint.post("buy", "/orders", {
    payload: Schema.Struct({ isbn: Schema.String, copies: Schema.Int, on: Schema.optionalKey(Schema.Date) }),
    success: Schema.Struct({ order: Schema.Int }),
    error: [NoSuchBook, SoldOut]
  }),
  HttpApiEndpoint.put("price", "/books/:isbn/price", {
    params: { isbn: Schema.String },
    payload: Schema.Struct({ price: Schema.Finite }),
    success: HttpApiSchema.NoContent
  }),
  HttpApiEndpoint.delete("drop", "/books/:isbn", { params: { isbn: Schema.String } }),
  HttpApiEndpoint.get("watch", "/changes", { success: HttpApiSchema.StreamNdjson({ schema: Schema.String }) })
)

export const Shop = HttpApi.make("shop").add(
  books,
  HttpApiGroup.make("top", { topLevel: true }).add(HttpApiEndpoint.get("health", "/health", { success: Schema.String }))
)

/** What a server was asked. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

type Handle = (request: Request) => Promise<Response> | Response

/** A client of a server that is this function, with what it was asked. */
export const served = (handle: Handle) => {
  const asked: Array<Asked> = []
  const layer = Layer.provide(
    FetchHttpClient.layer,
    Layer.succeed(FetchHttpClient.Fetch, async (input, init) => {
      const request = new Request(input, init)
      const { headers, method, url } = request
      const { pathname, search } = new URL(url)
      const body = await request.clone().text()
      asked.push({ method, path: `${pathname}${search}`, headers, body })
      return handle(request)
    })
  )
  return { asked, layer }
}

/** A client that adds the address of the shop and its own credentials. */
export const authorised = (base = "http://shop.test") =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.mapRequest((request) =>
        request.pipe(
          HttpClientRequest.prependUrl(base),
          HttpClientRequest.setHeaders({ authorization: "Bearer s3cret", "x-tenant": "t1" })
        )
      )
    )
  )

/** The shop as its users write it. */
export const handler = (): Handle => {
  const group = HttpApiBuilder.group(Shop, "books", (handlers) =>
    handlers
      .handle("find", ({ headers, params, query }) =>
        Effect.succeed({
          isbn: `${params.isbn}/${query.edition ?? 1}/${headers["x-tenant"]}`,
          price: 9.5,
          printed: new Date(0)
        })
      )
      .handle("buy", ({ payload }) => Effect.succeed({ order: payload.copies }))
      .handle("price", () => Effect.void)
      .handle("drop", () => Effect.void)
      .handle("watch", () => Effect.die("no tool calls it"))
  )
  const top = HttpApiBuilder.group(Shop, "top", (handlers) => handlers.handle("health", () => Effect.succeed("well")))
  const api = HttpApiBuilder.layer(Shop).pipe(Layer.provide([group, top]))
  const web = HttpRouter.toWebHandler(api as Layer.Layer<never, never, HttpRouter.HttpRouter>, { disableLogger: true })
  return (request) => web.handler(request)
}

/** Serves a function on the loopback interface until the scope ends; gives its address. */
export const listen = (handle: Handle) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => Promise<void> }>((resume) => {
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const method = request.method ?? "GET"
          const given = new Request(`http://${request.headers.host}${request.url}`, {
            method,
            headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
            ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) })
          })
          void (async () => {
            const answer = await handle(given)
            response.writeHead(answer.status, Object.fromEntries(answer.headers))
            response.end(Buffer.from(await answer.arrayBuffer()))
          })()
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () =>
          new Promise<void>((done) => {
            server.closeAllConnections()
            server.close(() => done())
          })
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.promise(close)
  )
