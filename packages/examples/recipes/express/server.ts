/**
 * An agent behind Express, without Effect: `../promise/guide.ts` has it.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/express
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/express/server.ts
 *   curl localhost:3000/ask -H 'content-type: text/plain' -d 'What is a span?'
 *   curl -N localhost:3000/stream -H 'content-type: text/plain' -d 'What is a span?'
 */
import { OpenAi } from "@kintsugi/providers"
import express from "express"
import { pipeline, Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import { type Guide, make, problemType, streamHeaders } from "../promise/guide.ts"

export const start = (guide: Guide, port: number) => {
  const app = express()
  app.use(express.text())

  // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 hands a rejection on
  app.post("/ask", async (request, response) => {
    const gone = new AbortController()
    // the response closes when the client goes away
    response.on("close", () => gone.abort())
    const answer = await guide.ask(String(request.body ?? ""), { signal: gone.signal })
    if (answer.ok) response.json({ answer: answer.answer })
    else response.status(answer.problem.status).type(problemType).send(JSON.stringify(answer.problem))
  })

  app.post("/stream", (request, response) => {
    const body = guide.stream(String(request.body ?? "")) as ReadableStream
    // a client that leaves cancels the stream, which stops the run
    pipeline(Readable.fromWeb(body), response.set(streamHeaders), () => undefined)
  })

  return app.listen(port, "127.0.0.1")
}

if (import.meta.main) {
  const guide = await make(OpenAi.model("gpt-5.6-sol")).catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
  const server = start(guide, 3000)
  process.once("SIGTERM", () => server.close(() => void guide.close()))
}
