import { guide } from "../../guide.ts"
import { streamHeaders } from "../../../promise/guide.ts"

export const POST = async (request: Request): Promise<Response> => {
  const { stream } = await guide()
  // a client that leaves cancels the stream, which stops the run
  return new Response(stream(await request.text()), { headers: streamHeaders })
}
