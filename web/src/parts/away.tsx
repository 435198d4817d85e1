/** The daemon does not answer and there is nothing to show yet: the page itself was kept by the browser, and nothing else. */
export function Away() {
  return (
    <section className="card stack" role="status">
      <h1>Pawl does not answer.</h1>
      <p>
        This browser has kept the page itself, so it opens; it keeps no tasks, questions or costs, because old ones would be taken
        for the truth. They are at <code>{location.host}</code> and show as soon as it answers: it is asked again every few
        seconds.
      </p>
      <p className="faint">
        On that machine, <code>pawl serve</code> starts the daemon, and <code>pawl doctor</code> says what is wrong. Nothing is
        lost meanwhile.
      </p>
    </section>
  )
}
