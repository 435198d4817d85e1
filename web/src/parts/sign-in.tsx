import styles from './states.module.css'

/** Shown to a browser that nobody has signed in. */
export function SignIn() {
  return (
    <main className={styles.state}>
      <img src="/icon.svg" alt="" width="48" height="48" />
      <h1>Pawl</h1>
      <p>This browser is not signed in.</p>
      <p>
        Run <code>pawl open</code> on the machine where Pawl runs, or <code>pawl sign-in</code> and enter its code here.
      </p>
      <form method="post" action="/sign-in" className="row">
        <input type="hidden" name="to" value={location.pathname} />
        <label>
          <span>Code</span>
          <input name="code" required autoComplete="one-time-code" pattern="[\w\-]{1,100}" />
        </label>
        <button type="submit" className="primary">
          Sign in
        </button>
      </form>
    </main>
  )
}
