/**
 * An agent behind Hono, without Effect: `../promise/guide.ts` has it. The handlers are those of any host that speaks `Request` and `Response`.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/hono
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/hono/server.ts
 *   curl localhost:3000/ask -d 'What is a span?'
 *   curl -N localhost:3000/stream -d 'What is a span?'
 */
import { serve } from "@hono/node-server"
import { OpenAi } from "@kintsugi/providers"
import { Hono } from "hono"
import { type Guide, make, problemType, streamHeaders } from "../promise/guide.ts"

export const start = (guide: Guide, port: number) => {
  const app = new Hono()

  app.post("/ask", async ({ req }) => {
    const answer = await guide.ask(await req.text(), { signal: req.raw.signal })
    if (answer.ok) return Response.json({ answer: answer.answer })
    const { problem } = answer
    return Response.json(problem, { status: problem.status, headers: { "content-type": problemType } })
  })

  // a client that leaves cancels the stream, which stops the run
  app.post("/stream", async ({ req }) => new Response(guide.stream(await req.text()), { headers: streamHeaders }))

  return serve({ fetch: app.fetch, hostname: "127.0.0.1", port })
}

if (import.meta.main) {
  const guide = await make(OpenAi.model("gpt-5.6-sol")).catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
  const server = start(guide, 3000)
  process.once("SIGTERM", () => server.close(() => void guide.close()))
}
