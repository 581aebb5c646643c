namespace FastPort.Transports.Unix;

/// <summary>
/// The send buffer of a Unix socket. TCP's buffers grow as needed; those of Unix sockets stay at the system's default of 208 KiB, the
/// kernel's overhead included, so that a sender of 64 KiB at a time blocks after every other send.
/// </summary>
internal static class UnixSendBuffer
{
    /// <summary>
    /// 416 KiB, which Linux doubles for its overhead, within net.core.wmem_max. Measured: with less the sender blocks more often, with more
    /// the bytes leave the cache before the peer reads them.
    /// </summary>
    public const int Bytes = 416 * 1024;
}
