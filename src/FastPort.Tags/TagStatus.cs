namespace FastPort.Tags;

/// <summary>
/// Whether a sample or an operation is good, or why not: an OPC UA StatusCode (OPC 10000-4, 7.39). The codes named here are those that
/// FastPort returns, and those of index ranges; a device's codes pass through unchanged.
/// </summary>
/// <param name="Code">The code; its upper two bits are 0 for good, 1 for uncertain, 2 for bad.</param>
public readonly record struct TagStatus(uint Code)
{
    /// <summary>The sample or operation is good.</summary>
    public static readonly TagStatus Good;

    /// <summary>An error inside the server that serves the tag.</summary>
    public static readonly TagStatus BadInternalError = new(0x8002_0000);

    /// <summary>No answer came in time. Whether a write took effect is not known.</summary>
    public static readonly TagStatus BadTimeout = new(0x800A_0000);

    /// <summary>The source or the server does not do this.</summary>
    public static readonly TagStatus BadServiceUnsupported = new(0x800B_0000);

    /// <summary>The server is about to stop.</summary>
    public static readonly TagStatus BadShutdown = new(0x800C_0000);

    /// <summary>The request contains more operations than allowed.</summary>
    public static readonly TagStatus BadTooManyOperations = new(0x8010_0000);

    /// <summary>The bridge does not allow it.</summary>
    public static readonly TagStatus BadUserAccessDenied = new(0x801F_0000);

    /// <summary>The source is not connected to its device.</summary>
    public static readonly TagStatus BadNoCommunication = new(0x8031_0000);

    /// <summary>The source has no value yet.</summary>
    public static readonly TagStatus BadWaitingForInitialData = new(0x8032_0000);

    /// <summary>The session has not resolved the handle. (BadMonitoredItemIdInvalid, which no device answers to a read or write.)</summary>
    public static readonly TagStatus BadHandleInvalid = new(0x8042_0000);

    /// <summary>The value is larger than the device accepts.</summary>
    public static readonly TagStatus BadEncodingLimitsExceeded = new(0x8008_0000);

    /// <summary>The value is too large for a frame.</summary>
    public static readonly TagStatus BadResponseTooLarge = new(0x80B9_0000);

    /// <summary>There is no tag of this name.</summary>
    public static readonly TagStatus BadNodeIdUnknown = new(0x8034_0000);

    /// <summary>The index range of a part of an array is malformed, such as <c>3:1</c>.</summary>
    public static readonly TagStatus BadIndexRangeInvalid = new(0x8036_0000);

    /// <summary>The array has no elements in the index range; a write needs all of them.</summary>
    public static readonly TagStatus BadIndexRangeNoData = new(0x8037_0000);

    /// <summary>The written part and the index range differ in size.</summary>
    public static readonly TagStatus BadIndexRangeDataMismatch = new(0x80EA_0000);

    /// <summary>The tag cannot be read.</summary>
    public static readonly TagStatus BadNotReadable = new(0x803A_0000);

    /// <summary>The tag cannot be written.</summary>
    public static readonly TagStatus BadNotWritable = new(0x803B_0000);

    /// <summary>The cursor is not one of this session, or has ended.</summary>
    public static readonly TagStatus BadContinuationPointInvalid = new(0x804A_0000);

    /// <summary>Another publisher has the name.</summary>
    public static readonly TagStatus BadNodeIdExists = new(0x805E_0000);

    /// <summary>The types of the value and the tag differ.</summary>
    public static readonly TagStatus BadTypeMismatch = new(0x8074_0000);

    /// <summary>There is no method of this name.</summary>
    public static readonly TagStatus BadMethodInvalid = new(0x8075_0000);

    /// <summary>An argument is not allowed, or a method's inputs have the wrong number or type.</summary>
    public static readonly TagStatus BadInvalidArgument = new(0x80AB_0000);

    /// <summary>Whether the value can be used.</summary>
    public bool IsGood => Code >> 30 == 0;

    /// <summary>Whether the value can be used with care.</summary>
    public bool IsUncertain => Code >> 30 == 1;

    /// <summary>Whether there is no value that can be used.</summary>
    public bool IsBad => Code >> 31 != 0;

    /// <summary>The name that the standard gives the code, or its number in hexadecimal.</summary>
    public override string ToString() => Code == BadHandleInvalid.Code ? nameof(BadHandleInvalid) : StatusNames.TextOf(Code);
}
