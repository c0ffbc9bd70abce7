/**
 * An agent in route handlers of Next, without Effect: `../promise/guide.ts` has it. It is made once for the process, at the first request:
 * `next build` imports the routes without a key.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/next
 *   cd packages/examples/recipes/next
 *   npm run build
 *   OPENAI_API_KEY=… npm start
 *   curl localhost:3000/ask -d 'What is a span?'
 *   curl -N localhost:3000/stream -d 'What is a span?'
 */
import { OpenAi } from "@kintsugi/providers"
import { type Guide, make } from "../promise/guide.ts"

let made: Promise<Guide> | undefined

export const guide = (): Promise<Guide> => (made ??= make(OpenAi.model("gpt-5.6-sol")))
