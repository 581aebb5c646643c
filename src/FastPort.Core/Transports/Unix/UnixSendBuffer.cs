namespace FastPort.Transports.Unix;

/// <summary>
/// How much a Unix socket holds on the way to its peer. TCP's buffers grow as they are needed, those of Unix sockets stay at the system's
/// default: 208 KiB with what the kernel adds for itself, so that a sender of 64 KiB at a time is stopped, and woken again, after every
/// other one.
/// </summary>
internal static class UnixSendBuffer
{
    /// <summary>
    /// 416 KiB, of which Linux makes twice as many for its own part, but not more than net.core.wmem_max allows. Measured: less stops the
    /// sender more often, more leaves the cache before the peer reads it.
    /// </summary>
    public const int Bytes = 416 * 1024;
}
