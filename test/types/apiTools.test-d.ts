/** The types of tools that are made of APIs. */
import { Agent, type Model, Recovery, Tool } from "@kintsugi/core"
import type { ExecutionError } from "@kintsugi/core/ToolError"
import * as HttpApiTools from "@kintsugi/interop/HttpApiTools"
import * as DocumentTools from "@kintsugi/interop/DocumentTools"
import * as RpcTools from "@kintsugi/interop/RpcTools"
import { Context, Effect, Schema, SchemaGetter } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import type { HttpClient } from "effect/http/HttpClient"
import { Rpc, type RpcClient, RpcGroup } from "effect/rpc"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {}) {}
class Denied extends Schema.TaggedError<Denied>()("Denied", {}) {}

class Guard extends HttpApiMiddleware.Service<Guard>()("Guard", { error: Denied, requiredForClient: true }) {}

const users = HttpApiGroup.make("users").add(
  HttpApiEndpoint.get("find", "/users/:id", {
    params: { id: Schema.Int },
    headers: { "x-a": Schema.String, "x-b": Schema.String },
    success: Schema.Struct({ name: Schema.String }),
    error: NotFound
  }),
  HttpApiEndpoint.post("add", "/users", { payload: Schema.Struct({ name: Schema.String }) }).middleware(Guard),
  HttpApiEndpoint.get("watch", "/watch", { success: HttpApiSchema.StreamUint8Array() })
)
const Api = HttpApi.make("api").add(users)
const tools = HttpApiTools.fromApi(Api)

type Stored = { readonly "~storedFailures": true }

class Db extends Context.Service<Db, { readonly rows: number }>()("Db") {}

describe("tools of APIs", () => {
  it("have the schemas, errors and services of their endpoints, and the side effects of the method [P1790 P1791]", () => {
    sameType<"users_find" | "users_add">()({} as keyof typeof tools)
    sameType<
      Tool.Tool<
        "users_find",
        { readonly params: { readonly id: number } },
        { readonly name: string },
        NotFound | ExecutionError,
        HttpClient,
        Stored,
        "none"
      >
    >()(tools.users_find)
    sameType<
      Tool.Tool<
        "users_add",
        { readonly payload: { readonly name: string } },
        void,
        Denied | ExecutionError,
        HttpClient | HttpApiMiddleware.ForClient<Guard>,
        Stored,
        "unsafe"
      >
    >()(tools.users_add)
    const { find } = HttpApiTools.fromGroup(users, { headers: ["x-a"], include: ["find"] })
    sameType<{ readonly params: { readonly id: number }; readonly headers: { readonly "x-a": string } }>()(
      {} as typeof find extends Tool.Tool<string, infer P, unknown, unknown, unknown, Stored, unknown> ? P : never
    )
  })

  it("leave to an agent what no row handles [P1790 P1792]", () => {
    const find = tools.users_find.pipe(Tool.onError({ NotFound: Recovery.tell(() => "there is no such user") }))
    const one = Agent.make("a", { tools: [find] })
    const both = Agent.make("a", { tools: [find, tools.users_add] })
    type Failures<A extends (input: string) => Effect.Effect<unknown, unknown, unknown>> = Extract<
      Effect.Error<ReturnType<A>>,
      NotFound | Denied | ExecutionError
    >
    sameType<ExecutionError>()({} as Failures<typeof one>)
    sameType<ExecutionError | Denied>()({} as Failures<typeof both>)
    sameType<HttpClient | Model.Model>()({} as Effect.Services<ReturnType<typeof one>>)
    sameType<HttpClient | Model.Model | HttpApiMiddleware.ForClient<Guard>>()(
      {} as Effect.Services<ReturnType<typeof both>>
    )
  })

  it("refuse unknown names in options, however these come [P1791]", () => {
    // @ts-expect-error -- there is no tool of this name
    void (() => HttpApiTools.fromApi(Api, { sideEffects: { users_drop: "none" } }))
    // @ts-expect-error -- an endpoint with a stream is no tool
    void (() => HttpApiTools.fromApi(Api, { include: ["users_watch"] }))
    // @ts-expect-error -- no endpoint has this header
    void (() => HttpApiTools.fromApi(Api, { headers: ["authorization"] }))
    const named = { sideEffects: { users_find: "none", users_drop: "none" } } as const
    // @ts-expect-error -- a variable is checked like a literal
    void (() => HttpApiTools.fromApi(Api, named))
    const some: ReadonlyArray<"users_find" | "users_add"> = ["users_find"]
    // @ts-expect-error -- only some of these tools may be made
    void (() => HttpApiTools.fromApi(Api, { include: some }))
    void (<G extends HttpApiGroup.Constraint>(group: G) => HttpApiTools.fromGroup(group))
    void (<O extends { readonly sideEffects: { readonly [name: string]: "none" } }>(o: O) =>
      // @ts-expect-error -- the options of a generic function may have any names
      HttpApiTools.fromApi(Api, o))
  })

  it("have the side effects that options say or may say [P1791]", () => {
    const said = HttpApiTools.fromApi(Api, { sideEffects: { users_add: "idempotent" } })
    sameType<"idempotent">()({} as Tool.SideEffectsOf<typeof said.users_add>)
    sameType<"none">()({} as Tool.SideEffectsOf<typeof said.users_find>)
    const perhaps: { readonly sideEffects?: { readonly users_add: "idempotent" } } = {}
    const may = HttpApiTools.fromApi(Api, perhaps)
    sameType<"idempotent" | "unsafe">()({} as Tool.SideEffectsOf<typeof may.users_add>)
    // @ts-expect-error -- a POST may not be repeated without consent
    void tools.users_add.pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1 }) }))
    void tools.users_find.pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1 }) }))
  })

  it("refuse schemas that need services [P1790]", () => {
    const needing = SchemaGetter.transformEffect((text: string) => Effect.as(Db, text))
    const Counted = Schema.String.pipe(Schema.decode({ decode: needing, encode: needing }))
    const made = HttpApiTools.fromGroup(
      HttpApiGroup.make("g").add(HttpApiEndpoint.get("e", "/e", { success: Counted }))
    )
    // @ts-expect-error -- its schema needs Db
    void Agent.make("a", { tools: [made.e] })
  })

  it("of a document know the ids that its type has, and any id of an unknown document [P1791 P1794]", () => {
    const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "read" }, put: {} } } } as const
    const options = { name: "api", hosts: ["api.test"] }
    void DocumentTools.fromDocument(document, { ...options, sideEffects: { read: "idempotent" } })
    // @ts-expect-error -- the document has no such operation
    void DocumentTools.fromDocument(document, { ...options, sideEffects: { write: "none" } })
    const include = ["read", "write"] as const
    // @ts-expect-error -- a variable is checked like a literal
    void DocumentTools.fromDocument(document, { ...options, include })
    const foreign: unknown = document
    const made = DocumentTools.fromDocument(foreign, { ...options, include: ["any"] })
    type Made = Effect.Success<typeof made>["tools"][number]
    sameType<DocumentTools.OperationTool>()({} as Made)
    const reader = Agent.make("a", { tools: [] as ReadonlyArray<Made> })
    sameType<HttpClient | Model.Model>()({} as Effect.Services<ReturnType<typeof reader>>)
    // @ts-expect-error -- the operation may be unsafe
    void ((tool: Made) => tool.pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1 }) })))
    // @ts-expect-error -- hosts are necessary
    void DocumentTools.fromDocument(foreign, { name: "api" })
  })

  it("of a group of procedures have their schemas and errors, and are unsafe unless options say otherwise [P1799]", () => {
    const group = RpcGroup.make(
      Rpc.make("book", { payload: { seat: Schema.Int }, success: Schema.String, error: NotFound }),
      Rpc.make("free", { success: Schema.Int }),
      Rpc.make("watch", { success: Schema.Int, stream: true })
    )
    const make = (client: RpcClient.FromGroup<typeof group, RpcClientError>) =>
      RpcTools.fromGroup(group, client, { sideEffects: { free: "none" } })
    type Made = ReturnType<typeof make>
    sameType<"book" | "free">()({} as keyof Made)
    sameType<
      Tool.Tool<
        "book",
        { readonly payload: { readonly seat: number } },
        string,
        NotFound | ExecutionError,
        never,
        Stored,
        "unsafe"
      >
    >()({} as Made["book"])
    sameType<Tool.Tool<"free", {}, number, ExecutionError, never, Stored, "none">>()({} as Made["free"])
    void ((client: RpcClient.FromGroup<typeof group>) =>
      // @ts-expect-error -- a procedure that streams is no tool
      RpcTools.fromGroup(group, client, { sideEffects: { watch: "none" } }))
    const include = ["book", "watch"] as const
    void ((client: RpcClient.FromGroup<typeof group>) =>
      // @ts-expect-error -- a variable is checked like a literal
      RpcTools.fromGroup(group, client, { include }))
    const other = RpcGroup.make(Rpc.make("book", { success: Schema.Int }))
    // @ts-expect-error -- the client is one of another group
    void ((client: RpcClient.FromGroup<typeof other>) => RpcTools.fromGroup(group, client))
  })
})
