/**
 * An agent behind Fastify, without Effect: `../promise/guide.ts` has it.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/fastify
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/fastify/server.ts
 *   curl localhost:3000/ask -H 'content-type: text/plain' -d 'What is a span?'
 *   curl -N localhost:3000/stream -H 'content-type: text/plain' -d 'What is a span?'
 */
import { OpenAi } from "@kintsugi/providers"
import { fastify } from "fastify"
import { type Guide, make, problemType, streamHeaders } from "../promise/guide.ts"

export const start = async (guide: Guide, port: number) => {
  const app = fastify()

  app.post<{ Body: string }>("/ask", async (request, reply) => {
    const gone = new AbortController()
    // the response closes when the client goes away
    reply.raw.on("close", () => gone.abort())
    const answer = await guide.ask(request.body, { signal: gone.signal })
    if (answer.ok) return { answer: answer.answer }
    return reply.code(answer.problem.status).type(problemType).send(JSON.stringify(answer.problem))
  })

  // a client that leaves cancels the stream, which stops the run
  app.post<{ Body: string }>("/stream", async (request, reply) =>
    reply.headers(streamHeaders).send(guide.stream(request.body))
  )

  await app.listen({ host: "127.0.0.1", port })
  return app.server
}

if (import.meta.main) {
  const guide = await make(OpenAi.model("gpt-5.6-sol")).catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
  const server = await start(guide, 3000)
  process.once("SIGTERM", () => server.close(() => void guide.close()))
}
