/** An HTTP server's answer as plain data, for codecs and classification. None of them does I/O. */
import type * as Duration from "effect/Duration"

/** The answer of a server, read by codecs. */
export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The whole text; empty while a stream goes on. */
  readonly body: string
  /** When the headers arrived, in milliseconds since the epoch, by Effect's `Clock`. */
  readonly at: number
  /** The time from the start of the attempt until `at`. */
  readonly elapsed: Duration.Duration
  /** The address that was asked, without the query and without credentials. */
  readonly url?: string
}

/** Whether the status is 200 to 299. */
export const isSuccess = (self: Answer): boolean => self.status >= 200 && self.status < 300

/** The provider's own id of the request, if it named one. */
export const requestId = (self: Answer): string | undefined => {
  const ids = [self.headers["x-request-id"], self.headers["request-id"], self.headers["x-amzn-requestid"]]
  return ids.find((id) => id !== undefined && id !== "")
}
