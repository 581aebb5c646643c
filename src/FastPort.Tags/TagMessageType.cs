namespace FastPort.Tags;

/// <summary>The message types of tags. Bodies are in tags.proto.</summary>
public static class TagMessageType
{
    /// <summary>Names to handles.</summary>
    public const ushort Resolve = 0x0200;

    /// <summary>Reads tags.</summary>
    public const ushort Read = 0x0201;

    /// <summary>Writes tags.</summary>
    public const ushort Write = 0x0202;

    /// <summary>Begins a subscription.</summary>
    public const ushort Subscribe = 0x0203;

    /// <summary>Ends a subscription.</summary>
    public const ushort Unsubscribe = 0x0204;

    /// <summary>An update of a subscription, one-way from the server.</summary>
    public const ushort Update = 0x0205;

    /// <summary>Acknowledges updates, one-way to the server.</summary>
    public const ushort Acknowledge = 0x0206;

    /// <summary>Lists the nodes below a path.</summary>
    public const ushort Browse = 0x0207;

    /// <summary>Calls a method.</summary>
    public const ushort Call = 0x0208;

    /// <summary>Declares tags that the session publishes.</summary>
    public const ushort Declare = 0x0210;

    /// <summary>Values of declared tags.</summary>
    public const ushort Push = 0x0211;
}
