namespace FastPort.Tags.Serving;

/// <summary>A session's rights to a tag; the bits of the protocol's <c>access</c>.</summary>
[Flags]
internal enum TagRights
{
    None = 0,
    Read = 1,
    Write = 2,
}
