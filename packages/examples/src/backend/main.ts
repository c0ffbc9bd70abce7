/** `npm run backend`: the server of this folder, until a signal stops it. */
import { Layer } from "effect"
import * as Config from "./config.ts"
import * as Node from "./node.ts"
import * as Server from "./server.ts"
import * as Shop from "./shop.ts"
import { start } from "./starting.ts"

const orders = [
  { id: "A-17", item: "a lamp", cents: 4900 },
  { id: "B-4", item: "an oak table", cents: 78_000 }
]

const live = Server.layer.pipe(
  Layer.provide(Node.layerConfig),
  Layer.provide([Config.layerModel, Shop.layerMemory(orders), Config.layerSuspended, Config.layerAccess])
)

const help = `npm run backend

The server of docs/guide/backend.md: agents over HTTP, until a signal stops it. Variables of the environment:

  OPENAI_API_KEY (or ANTHROPIC_, GEMINI_, OPENROUTER_), MODEL   the model; without a key a stand-in answers
  MODEL_CONCURRENCY                                             how many calls of the model are at work at a time (32)
  CHATS_AT_WORK                                                 how many chats are at work at a time (1000)
  PORT, HOST, HOSTS                                             where it listens, and its names (3000, 127.0.0.1)
  CUSTOMER_TOKENS                                               names and tokens of customers: ada=<token>,bob=<token>
  APPROVAL_TOKEN                                                what a decision about an approval has to bring
  DRAIN, WAITING_AGE, WAITING_COUNT                             how long requests may end, and runs may wait
`

start(help, Layer.launch(live))
