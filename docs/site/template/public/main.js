export default {
  // A block of code without a language is a command or its output: guesses color it at random.
  configureHljs: hljs => hljs.configure({ languages: [] }),

  // What the template leaves out for those who use the keyboard or a screen reader.
  start() {
    new MutationObserver(complete).observe(document.body, { childList: true, subtree: true })
    complete()
  }
}

function complete() {
  document.querySelectorAll('pre code, .table-responsive').forEach(scrolled => { scrolled.tabIndex = 0 })
  document.querySelectorAll('#navbar .dropdown-toggle:not([role])').forEach(toggle => {
    toggle.href = '#'
    toggle.role = 'button'
    toggle.ariaLabel = toggle.title
  })
  document.querySelectorAll('#breadcrumb a[href=""]').forEach(group => group.removeAttribute('href'))
}
