namespace FastPort.Tls;

/// <summary>A certificate cannot be used. The message says which file, what is wrong with it and what to do.</summary>
/// <param name="message">One or two sentences.</param>
/// <param name="inner">The cause. Defaults to none.</param>
internal sealed class CertificateException(string message, Exception? inner = null) : IOException(message, inner);
