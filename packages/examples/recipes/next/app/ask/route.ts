import { guide } from "../../guide.ts"
import { problemType } from "../../../promise/guide.ts"

export const POST = async (request: Request): Promise<Response> => {
  const { ask } = await guide()
  const answer = await ask(await request.text(), { signal: request.signal })
  if (answer.ok) return Response.json({ answer: answer.answer })
  const { problem } = answer
  return Response.json(problem, { status: problem.status, headers: { "content-type": problemType } })
}
