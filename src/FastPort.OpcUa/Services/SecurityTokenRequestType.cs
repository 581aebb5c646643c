namespace FastPort.OpcUa.Services;

/// <summary>Whether a token opens a secure channel or renews one (OPC 10000-4, 5.6.2).</summary>
internal enum SecurityTokenRequestType
{
    Issue = 0,
    Renew = 1,
}
