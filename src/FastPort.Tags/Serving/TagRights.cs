namespace FastPort.Tags.Serving;

/// <summary>What a session may do with a tag; the bits of the protocol's <c>access</c>.</summary>
[Flags]
internal enum TagRights
{
    None = 0,
    Read = 1,
    Write = 2,
}
