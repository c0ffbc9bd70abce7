import { guide } from "./guide.ts"

/** Next calls this when a server starts, so that a server without a key ends at once. */
export const register = async (): Promise<void> => {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return
  await guide().catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
}
