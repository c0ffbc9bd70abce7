/**
 * The house: which packages there are, the order of their folders, and what each may import from outside of itself.
 *
 * A folder imports only from itself and from the folders before it; `.` is the root of the sources. A package imports only the
 * modules that its list names. Other packages of this repository need no list: `package.json` names them.
 */

export interface Package {
  readonly name: string
  /** In import order; type imports count. An index may import everything. */
  readonly folders: ReadonlyArray<string>
  /** Folders that only an index and `testing` import. */
  readonly aside?: ReadonlyArray<string>
  /** Modules of Effect and others, open to the whole package. */
  readonly everywhere: ReadonlyArray<string>
  /** What one folder, with the folders below it, may import besides. */
  readonly within?: Readonly<Record<string, ReadonlyArray<string>>>
}

/** `effect/Effect` for `Effect`, `effect/http/HttpClient` for `http/HttpClient`. */
const effect = (modules: string): ReadonlyArray<string> => modules.split(" ").map((module) => `effect/${module}`)

export const packages: ReadonlyArray<Package> = [
  {
    name: "core",
    folders: [
      "data",
      "coercion",
      "errors",
      "recovery",
      "budget",
      "event",
      "telemetry",
      "model",
      "tool",
      "run",
      "agent/composition",
      "agent",
      "testing"
    ],
    aside: ["telemetry", "testing"],
    // these are stable, or the parts that core uses of them are: see stability.ts
    everywhere: effect(
      "Brand Cause Clock Context Data DateTime Deferred Duration Effect Equal Exit Fiber Function Inspectable JsonSchema Latch Layer Logger Metric " +
        "Option Pipeable Predicate Pull Queue Random Redacted Result Schedule Schema SchemaAST SchemaGetter SchemaIssue " +
        "SchemaRepresentation SchemaTransformation Scope Stream Tracer Types"
    ),
    within: {
      testing: ["effect/Arbitrary", "effect/testing/TestClock", "fast-check"]
    }
  },
  {
    name: "providers",
    folders: [
      "transport",
      "classify",
      "codec",
      "codec/anthropic",
      "codec/bedrock",
      "codec/gemini",
      "codec/ollama",
      "codec/openai-chat",
      "codec/openai-responses",
      "service",
      "resilience",
      "effect-ai",
      "testing",
      "testing/recording",
      "testing/wire"
    ],
    aside: ["testing"],
    everywhere: effect(
      "Array Cause Clock Config Context Data DateTime Deferred Duration Effect Equal Exit Fiber FiberSet Hash Layer Option Predicate Pull " +
        "Queue Redacted Ref References Result Schedule Schema SchemaIssue SchemaTransformation Scope Semaphore Stream"
    ),
    within: {
      transport: effect(
        "http/FetchHttpClient http/Headers http/HttpBody http/HttpClient http/HttpClientError http/HttpClientRequest " +
          "http/HttpClientResponse"
      ),
      resilience: effect("persistence/CircuitBreaker persistence/RateLimiter"),
      "effect-ai": effect("ai/AiError ai/LanguageModel ai/Model ai/Prompt ai/Response ai/Telemetry ai/Tool ai/Toolkit"),
      // a loopback server, and recordings in the place of the HTTP client
      testing: [
        ...effect("http/Headers http/HttpClient http/HttpClientError http/HttpClientRequest http/HttpClientResponse"),
        "node:fs",
        "node:http",
        "node:path"
      ]
    }
  },
  {
    name: "durable",
    folders: ["engine", "conversations", "limits", ".", "entity"],
    everywhere: effect(
      "Cause Clock Context Deferred Duration Effect Exit Fiber Latch Layer Option Predicate Queue Random Redacted Result Schedule Schema Scope Semaphore " +
        "Stream crypto/Mac crypto/SecureRandom persistence/KeyValueStore persistence/Persistable persistence/PersistedQueue persistence/Persistence persistence/RateLimiter sql/SqlClient workflow/Activity workflow/DurableClock workflow/DurableDeferred workflow/Workflow workflow/WorkflowEngine cluster/EntityAddress cluster/MessageStorage"
    ),
    within: {
      conversations: effect("Array Result crypto/Aead encoding/Base64 sql/Migrator sql/Statement"),
      limits: effect("sql/Migrator sql/Statement"),
      entity: effect(
        "cluster/ClusterError cluster/ClusterSchema cluster/ClusterWorkflowEngine cluster/Entity cluster/Sharding cluster/TestRunner rpc/Rpc"
      ),
      // what the layers of engines load, each when it is built
      engine: [
        ...effect(
          "crypto/Digest rpc/RpcSerialization socket/SocketServer sql/SqlError cluster/ClusterWorkflowEngine cluster/RunnerAddress " +
            "cluster/RunnerHealth cluster/Runners cluster/RunnerStorage cluster/Sharding cluster/ShardingConfig cluster/SocketRunner " +
            "cluster/SqlMessageStorage cluster/SqlRunnerStorage"
        ),
        "node:fs",
        "node:module",
        "node:path",
        "node:process",
        "node:url",
        "node:worker_threads"
      ]
    }
  },
  {
    name: "interop",
    folders: ["ai-sdk", "execution-plan", "mcp", "sse", "api", "proxy", "proxy/conversation"],
    everywhere: effect("Effect Predicate Result Schema SchemaTransformation Stream"),
    within: {
      mcp: effect(
        "Cause Clock ConfigProvider Context Deferred Duration Equal Exit Layer Option PubSub Redacted References Schedule Scope Semaphore " +
          "Stdio ai/McpClient ai/McpClientError ai/McpProtocol ai/McpSchema ai/McpServer encoding/Sse http/HttpClient http/HttpClientError " +
          "http/HttpClientRequest http/HttpClientResponse http/HttpRouter persistence/KeyValueStore process/ChildProcess process/ChildProcessSpawner"
      ),
      "ai-sdk": [
        ...effect(
          "Array Layer Redacted SchemaIssue http/HttpClient http/HttpClientError http/HttpClientRequest http/HttpClientResponse"
        ),
        // AiSdkModel alone: providers is an optional peer
        ...["OpenAiChat", "Provider", "Transport"].map((module) => `@kintsugi/providers/${module}`)
      ],
      "execution-plan": effect("Context ExecutionPlan Layer"),
      api: effect(
        "Clock Context Duration SchemaAST Types http-api/HttpApi http-api/HttpApiClient http-api/HttpApiEndpoint http-api/HttpApiGroup " +
          "http-api/HttpApiMiddleware http-api/HttpApiSchema http-api/OpenApi http/FetchHttpClient http/HttpClient http/HttpClientError " +
          "http/HttpClientRequest http/HttpClientResponse http/HttpMethod rpc/Rpc rpc/RpcClient rpc/RpcGroup rpc/RpcSchema"
      ),
      sse: effect("Option Schedule"),
      proxy: [
        ...effect(
          "ByteSize Cause Clock Context Deferred Duration ErrorReporter Exit Layer Option Random Schedule SchemaGetter SchemaIssue Scope Semaphore Types " +
            "http/HttpBody http/HttpIncomingMessage http/HttpRouter http/HttpServerRespondable http/HttpServerResponse http-api/HttpApi http-api/HttpApiBuilder http-api/HttpApiEndpoint " +
            "http-api/HttpApiError http-api/HttpApiGroup http-api/HttpApiMiddleware http-api/HttpApiSchema rpc/Rpc rpc/RpcGroup " +
            "rpc/RpcMiddleware rpc/RpcSchema"
        ),
        // DurableRuns alone: durable is an optional peer
        ...effect("workflow/DurableDeferred workflow/Workflow workflow/WorkflowEngine"),
        ...["Conversations", "Durable"].map((module) => `@kintsugi/durable/${module}`)
      ],
      "proxy/conversation": [
        ...effect(
          "Cause Context Layer http-api/HttpApi http-api/HttpApiEndpoint http-api/HttpApiError http-api/HttpApiGroup http-api/HttpApiMiddleware " +
            "http-api/HttpApiSchema rpc/Rpc rpc/RpcGroup rpc/RpcMiddleware rpc/RpcSchema cluster/Sharding workflow/WorkflowEngine"
        ),
        // ConversationProxyServer alone
        ...["ConversationEntity", "Conversations", "Durable"].map((module) => `@kintsugi/durable/${module}`)
      ]
    }
  },
  {
    name: "view",
    folders: [
      "text",
      "recording",
      "log",
      "replay",
      "comparison",
      "scene",
      "drawing",
      "browser",
      "page",
      "comparison/page",
      "policy",
      "stats",
      "eval",
      "serve/browser",
      "serve/page",
      "serve",
      "cli"
    ],
    // pictures are drawn without a DOM and without Node; of Effect they need what explanations hold
    everywhere: [],
    within: {
      // types alone: the modules are looked up when a file is opened
      log: [...effect("Data Effect Layer Schema"), "node:fs", "node:path"],
      policy: effect("Duration"),
      drawing: ["d3-array", "d3-time"],
      // a server, and runs on the clock of the process or on one of their own
      serve: [
        ...effect(
          "Arbitrary Cause Clock Context Data Duration Effect Exit Fiber Layer Logger Option Predicate Result Schema Scope Semaphore Stream testing/TestClock"
        ),
        "node:crypto",
        "node:fs",
        "node:http",
        "node:path"
      ],
      cli: [
        ...effect(
          "Cause Clock Context Duration Effect Exit FileSystem Layer Logger Option Path PlatformError Predicate Queue Result Schedule Schema Scope Stdio Stream " +
            "cli/Argument cli/CliConfig cli/CliError cli/CliOutput cli/Command cli/Flag cli/GlobalFlag cli/TerminalCapabilities"
        ),
        ...["ChildProcessSpawner", "FileSystem", "Path", "Stdio", "Terminal"].map(
          (service) => `@effect/platform-node-shared/Node${service}`
        ),
        "node:console",
        "node:fs",
        "node:module",
        "node:path",
        "node:process",
        "node:url",
        "node:util"
      ]
    }
  }
]
