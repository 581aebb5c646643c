using FastPort.Framing;

namespace FastPort.Sessions.Streams;

/// <summary>How much of one direction of a stream may be under way or wait for its reader.</summary>
/// <param name="Messages">Items, 1 or more.</param>
/// <param name="Bytes">Bytes of their bodies, 1 or more; the last item may exceed it.</param>
internal readonly record struct StreamWindow(int Messages, int Bytes)
{
    public StreamWindow(SessionOptions options)
        : this(options.StreamWindowMessages, options.StreamWindowBytes)
    {
    }

    /// <summary>The first grant.</summary>
    public CreditBody Grant(uint correlation, uint of) => new(correlation, (uint)Messages, (uint)Bytes, of);

    /// <summary>
    /// Whether what was consumed is granted again: half of the window. A sender without credit has used the whole one, so it always gets
    /// more when its items were consumed.
    /// </summary>
    public bool IsGrantDue(int messages, long bytes) => messages >= (Messages + 1) / 2 || bytes >= (Bytes + 1) / 2;
}
