namespace FastPort.OpcUa;

/// <summary>The well-known status codes that this library uses or often encounters (OPC 10000-6, annex A).</summary>
public static class StatusCodes
{
    /// <summary>The operation succeeded.</summary>
    public static StatusCode Good => new(0x0000_0000);

    /// <summary>The subscription now belongs to another session.</summary>
    public static StatusCode GoodSubscriptionTransferred => new(0x002D_0000);

    /// <summary>The operation completes later.</summary>
    public static StatusCode GoodCompletesAsynchronously => new(0x002E_0000);

    /// <summary>The value was clamped to its range and accepted.</summary>
    public static StatusCode GoodClamped => new(0x0030_0000);

    /// <summary>The result is uncertain.</summary>
    public static StatusCode Uncertain => new(0x4000_0000);

    /// <summary>The value is an initial one that the source has not set yet.</summary>
    public static StatusCode UncertainInitialValue => new(0x4092_0000);

    /// <summary>The source no longer updates the value.</summary>
    public static StatusCode UncertainLastUsableValue => new(0x4090_0000);

    /// <summary>There is no connection to the source; this is its last value.</summary>
    public static StatusCode UncertainNoCommunicationLastUsableValue => new(0x408F_0000);

    /// <summary>The operation failed.</summary>
    public static StatusCode Bad => new(0x8000_0000);

    /// <summary>An unexpected error occurred.</summary>
    public static StatusCode BadUnexpectedError => new(0x8001_0000);

    /// <summary>The program has an error.</summary>
    public static StatusCode BadInternalError => new(0x8002_0000);

    /// <summary>There is not enough memory.</summary>
    public static StatusCode BadOutOfMemory => new(0x8003_0000);

    /// <summary>A resource of the operating system is not available.</summary>
    public static StatusCode BadResourceUnavailable => new(0x8004_0000);

    /// <summary>The communication failed.</summary>
    public static StatusCode BadCommunicationError => new(0x8005_0000);

    /// <summary>A value cannot be encoded.</summary>
    public static StatusCode BadEncodingError => new(0x8006_0000);

    /// <summary>The bytes are not a valid encoding.</summary>
    public static StatusCode BadDecodingError => new(0x8007_0000);

    /// <summary>A value exceeds the limits of the encoding.</summary>
    public static StatusCode BadEncodingLimitsExceeded => new(0x8008_0000);

    /// <summary>The server sent a response of an unknown type.</summary>
    public static StatusCode BadUnknownResponse => new(0x8009_0000);

    /// <summary>The operation took too long.</summary>
    public static StatusCode BadTimeout => new(0x800A_0000);

    /// <summary>The server does not have this service.</summary>
    public static StatusCode BadServiceUnsupported => new(0x800B_0000);

    /// <summary>The application is shutting down.</summary>
    public static StatusCode BadShutdown => new(0x800C_0000);

    /// <summary>The client is not connected to the server.</summary>
    public static StatusCode BadServerNotConnected => new(0x800D_0000);

    /// <summary>The server has stopped.</summary>
    public static StatusCode BadServerHalted => new(0x800E_0000);

    /// <summary>The request lists no operations.</summary>
    public static StatusCode BadNothingToDo => new(0x800F_0000);

    /// <summary>The request lists more operations than the server allows.</summary>
    public static StatusCode BadTooManyOperations => new(0x8010_0000);

    /// <summary>The type of an extension object is unknown.</summary>
    public static StatusCode BadDataTypeIdUnknown => new(0x8011_0000);

    /// <summary>The certificate is not valid.</summary>
    public static StatusCode BadCertificateInvalid => new(0x8012_0000);

    /// <summary>A check of the security failed.</summary>
    public static StatusCode BadSecurityChecksFailed => new(0x8013_0000);

    /// <summary>The certificate has expired or is not valid yet.</summary>
    public static StatusCode BadCertificateTimeInvalid => new(0x8014_0000);

    /// <summary>An issuer's certificate has expired or is not valid yet.</summary>
    public static StatusCode BadCertificateIssuerTimeInvalid => new(0x8015_0000);

    /// <summary>The certificate is for another host.</summary>
    public static StatusCode BadCertificateHostNameInvalid => new(0x8016_0000);

    /// <summary>The certificate is for another application URI.</summary>
    public static StatusCode BadCertificateUriInvalid => new(0x8017_0000);

    /// <summary>The certificate may not be used for this.</summary>
    public static StatusCode BadCertificateUseNotAllowed => new(0x8018_0000);

    /// <summary>The issuer's certificate may not be used for this.</summary>
    public static StatusCode BadCertificateIssuerUseNotAllowed => new(0x8019_0000);

    /// <summary>The certificate is not trusted.</summary>
    public static StatusCode BadCertificateUntrusted => new(0x801A_0000);

    /// <summary>Whether the certificate was revoked is unknown.</summary>
    public static StatusCode BadCertificateRevocationUnknown => new(0x801B_0000);

    /// <summary>Whether an issuer's certificate was revoked is unknown.</summary>
    public static StatusCode BadCertificateIssuerRevocationUnknown => new(0x801C_0000);

    /// <summary>The certificate was revoked.</summary>
    public static StatusCode BadCertificateRevoked => new(0x801D_0000);

    /// <summary>An issuer's certificate was revoked.</summary>
    public static StatusCode BadCertificateIssuerRevoked => new(0x801E_0000);

    /// <summary>The chain of certificates is incomplete.</summary>
    public static StatusCode BadCertificateChainIncomplete => new(0x810D_0000);

    /// <summary>The user may not do this.</summary>
    public static StatusCode BadUserAccessDenied => new(0x801F_0000);

    /// <summary>The user's token is not valid.</summary>
    public static StatusCode BadIdentityTokenInvalid => new(0x8020_0000);

    /// <summary>The server rejects the user's token.</summary>
    public static StatusCode BadIdentityTokenRejected => new(0x8021_0000);

    /// <summary>The secure channel is not the one expected.</summary>
    public static StatusCode BadSecureChannelIdInvalid => new(0x8022_0000);

    /// <summary>The timestamp is outside the allowed range.</summary>
    public static StatusCode BadInvalidTimestamp => new(0x8023_0000);

    /// <summary>The nonce has the wrong length or is not random.</summary>
    public static StatusCode BadNonceInvalid => new(0x8024_0000);

    /// <summary>There is no such session.</summary>
    public static StatusCode BadSessionIdInvalid => new(0x8025_0000);

    /// <summary>The session was closed.</summary>
    public static StatusCode BadSessionClosed => new(0x8026_0000);

    /// <summary>The session was not activated.</summary>
    public static StatusCode BadSessionNotActivated => new(0x8027_0000);

    /// <summary>There is no such subscription.</summary>
    public static StatusCode BadSubscriptionIdInvalid => new(0x8028_0000);

    /// <summary>The request's header is missing or not valid.</summary>
    public static StatusCode BadRequestHeaderInvalid => new(0x802A_0000);

    /// <summary>The choice of timestamps is not valid.</summary>
    public static StatusCode BadTimestampsToReturnInvalid => new(0x802B_0000);

    /// <summary>The client canceled the request.</summary>
    public static StatusCode BadRequestCancelledByClient => new(0x802C_0000);

    /// <summary>There is no connection to the source, and no last value.</summary>
    public static StatusCode BadNoCommunication => new(0x8031_0000);

    /// <summary>The source has not delivered a value yet.</summary>
    public static StatusCode BadWaitingForInitialData => new(0x8032_0000);

    /// <summary>The node id is not valid here.</summary>
    public static StatusCode BadNodeIdInvalid => new(0x8033_0000);

    /// <summary>There is no such node.</summary>
    public static StatusCode BadNodeIdUnknown => new(0x8034_0000);

    /// <summary>The node has no such attribute.</summary>
    public static StatusCode BadAttributeIdInvalid => new(0x8035_0000);

    /// <summary>The index range is not valid.</summary>
    public static StatusCode BadIndexRangeInvalid => new(0x8036_0000);

    /// <summary>The index range selects no element.</summary>
    public static StatusCode BadIndexRangeNoData => new(0x8037_0000);

    /// <summary>The written array does not match the index range.</summary>
    public static StatusCode BadIndexRangeDataMismatch => new(0x80EA_0000);

    /// <summary>The data encoding is not valid.</summary>
    public static StatusCode BadDataEncodingInvalid => new(0x8038_0000);

    /// <summary>The data encoding is not supported for this node.</summary>
    public static StatusCode BadDataEncodingUnsupported => new(0x8039_0000);

    /// <summary>The value may not be read.</summary>
    public static StatusCode BadNotReadable => new(0x803A_0000);

    /// <summary>The value may not be written.</summary>
    public static StatusCode BadNotWritable => new(0x803B_0000);

    /// <summary>The value is out of its range.</summary>
    public static StatusCode BadOutOfRange => new(0x803C_0000);

    /// <summary>The operation is not supported.</summary>
    public static StatusCode BadNotSupported => new(0x803D_0000);

    /// <summary>The item was not found.</summary>
    public static StatusCode BadNotFound => new(0x803E_0000);

    /// <summary>The operation is not implemented.</summary>
    public static StatusCode BadNotImplemented => new(0x8040_0000);

    /// <summary>The monitoring mode is not valid.</summary>
    public static StatusCode BadMonitoringModeInvalid => new(0x8041_0000);

    /// <summary>There is no such monitored item.</summary>
    public static StatusCode BadMonitoredItemIdInvalid => new(0x8042_0000);

    /// <summary>The filter of the monitored item is not valid.</summary>
    public static StatusCode BadMonitoredItemFilterInvalid => new(0x8043_0000);

    /// <summary>The server does not support the filter of the monitored item.</summary>
    public static StatusCode BadMonitoredItemFilterUnsupported => new(0x8044_0000);

    /// <summary>The attribute cannot have this filter.</summary>
    public static StatusCode BadFilterNotAllowed => new(0x8045_0000);

    /// <summary>A required structure is missing.</summary>
    public static StatusCode BadStructureMissing => new(0x8046_0000);

    /// <summary>The continuation point is no longer valid.</summary>
    public static StatusCode BadContinuationPointInvalid => new(0x804A_0000);

    /// <summary>The server has no continuation point left.</summary>
    public static StatusCode BadNoContinuationPoints => new(0x804B_0000);

    /// <summary>The id is not that of a reference type.</summary>
    public static StatusCode BadReferenceTypeIdInvalid => new(0x804C_0000);

    /// <summary>The browse direction is not valid.</summary>
    public static StatusCode BadBrowseDirectionInvalid => new(0x804D_0000);

    /// <summary>The server URI is not valid.</summary>
    public static StatusCode BadServerUriInvalid => new(0x804F_0000);

    /// <summary>The token is neither issued nor renewed, or in the wrong state.</summary>
    public static StatusCode BadRequestTypeInvalid => new(0x8053_0000);

    /// <summary>The server rejects the security mode.</summary>
    public static StatusCode BadSecurityModeRejected => new(0x8054_0000);

    /// <summary>The server rejects the security policy.</summary>
    public static StatusCode BadSecurityPolicyRejected => new(0x8055_0000);

    /// <summary>The server has no session left.</summary>
    public static StatusCode BadTooManySessions => new(0x8056_0000);

    /// <summary>The signature of the user's token is missing or not valid.</summary>
    public static StatusCode BadUserSignatureInvalid => new(0x8057_0000);

    /// <summary>The signature of the client's certificate is missing or not valid.</summary>
    public static StatusCode BadApplicationSignatureInvalid => new(0x8058_0000);

    /// <summary>The user of the session cannot be changed.</summary>
    public static StatusCode BadIdentityChangeNotSupported => new(0x80C6_0000);

    /// <summary>The client canceled the request by the Cancel service.</summary>
    public static StatusCode BadRequestCancelledByRequest => new(0x805A_0000);

    /// <summary>The node class is not valid.</summary>
    public static StatusCode BadNodeClassInvalid => new(0x805F_0000);

    /// <summary>The browse name is not valid.</summary>
    public static StatusCode BadBrowseNameInvalid => new(0x8060_0000);

    /// <summary>The type definition is not a type node.</summary>
    public static StatusCode BadTypeDefinitionInvalid => new(0x8063_0000);

    /// <summary>There is no such view.</summary>
    public static StatusCode BadViewIdUnknown => new(0x806B_0000);

    /// <summary>There are too many matches.</summary>
    public static StatusCode BadTooManyMatches => new(0x806D_0000);

    /// <summary>The operation takes too many resources of the server.</summary>
    public static StatusCode BadQueryTooComplex => new(0x806E_0000);

    /// <summary>There is no match.</summary>
    public static StatusCode BadNoMatch => new(0x806F_0000);

    /// <summary>The maximum age is not valid.</summary>
    public static StatusCode BadMaxAgeInvalid => new(0x8070_0000);

    /// <summary>The operation needs a channel with more security.</summary>
    public static StatusCode BadSecurityModeInsufficient => new(0x80E6_0000);

    /// <summary>Status or timestamps of this value cannot be written.</summary>
    public static StatusCode BadWriteNotSupported => new(0x8073_0000);

    /// <summary>The types of the value and the attribute differ.</summary>
    public static StatusCode BadTypeMismatch => new(0x8074_0000);

    /// <summary>The object has no such method.</summary>
    public static StatusCode BadMethodInvalid => new(0x8075_0000);

    /// <summary>Input arguments of the method are missing.</summary>
    public static StatusCode BadArgumentsMissing => new(0x8076_0000);

    /// <summary>There are more arguments than the method has.</summary>
    public static StatusCode BadTooManyArguments => new(0x80E5_0000);

    /// <summary>An argument is not valid.</summary>
    public static StatusCode BadInvalidArgument => new(0x80AB_0000);

    /// <summary>The method may not be called.</summary>
    public static StatusCode BadNotExecutable => new(0x8111_0000);

    /// <summary>The server has no subscription left.</summary>
    public static StatusCode BadTooManySubscriptions => new(0x8077_0000);

    /// <summary>The session has too many Publish requests.</summary>
    public static StatusCode BadTooManyPublishRequests => new(0x8078_0000);

    /// <summary>The session has no subscription.</summary>
    public static StatusCode BadNoSubscription => new(0x8079_0000);

    /// <summary>The sequence number is unknown.</summary>
    public static StatusCode BadSequenceNumberUnknown => new(0x807A_0000);

    /// <summary>The notification message is no longer available.</summary>
    public static StatusCode BadMessageNotAvailable => new(0x807B_0000);

    /// <summary>There are too many monitored items.</summary>
    public static StatusCode BadTooManyMonitoredItems => new(0x80DB_0000);

    /// <summary>The deadband filter is not valid.</summary>
    public static StatusCode BadDeadbandFilterInvalid => new(0x808E_0000);

    /// <summary>The server is too busy.</summary>
    public static StatusCode BadTcpServerTooBusy => new(0x807D_0000);

    /// <summary>The type of the message is not valid.</summary>
    public static StatusCode BadTcpMessageTypeInvalid => new(0x807E_0000);

    /// <summary>There is no such secure channel.</summary>
    public static StatusCode BadTcpSecureChannelUnknown => new(0x807F_0000);

    /// <summary>The message is larger than the receiver allows.</summary>
    public static StatusCode BadTcpMessageTooLarge => new(0x8080_0000);

    /// <summary>The server does not have enough resources.</summary>
    public static StatusCode BadTcpNotEnoughResources => new(0x8081_0000);

    /// <summary>The receiver has an internal error.</summary>
    public static StatusCode BadTcpInternalError => new(0x8082_0000);

    /// <summary>The endpoint URL is not valid.</summary>
    public static StatusCode BadTcpEndpointUrlInvalid => new(0x8083_0000);

    /// <summary>The request was interrupted.</summary>
    public static StatusCode BadRequestInterrupted => new(0x8084_0000);

    /// <summary>The request took too long.</summary>
    public static StatusCode BadRequestTimeout => new(0x8085_0000);

    /// <summary>The secure channel was closed.</summary>
    public static StatusCode BadSecureChannelClosed => new(0x8086_0000);

    /// <summary>The token of the secure channel is unknown or has expired.</summary>
    public static StatusCode BadSecureChannelTokenUnknown => new(0x8087_0000);

    /// <summary>The sequence number is not the next one.</summary>
    public static StatusCode BadSequenceNumberInvalid => new(0x8088_0000);

    /// <summary>The server rejects the connection.</summary>
    public static StatusCode BadConnectionRejected => new(0x80AC_0000);

    /// <summary>The server has closed the connection.</summary>
    public static StatusCode BadDisconnect => new(0x80AD_0000);

    /// <summary>The connection was closed.</summary>
    public static StatusCode BadConnectionClosed => new(0x80AE_0000);

    /// <summary>The operation is not possible in this state.</summary>
    public static StatusCode BadInvalidState => new(0x80AF_0000);

    /// <summary>The request is larger than the server allows.</summary>
    public static StatusCode BadRequestTooLarge => new(0x80B8_0000);

    /// <summary>The response is larger than the client allows.</summary>
    public static StatusCode BadResponseTooLarge => new(0x80B9_0000);

    /// <summary>The version of the protocol is not supported.</summary>
    public static StatusCode BadProtocolVersionUnsupported => new(0x80BE_0000);

    /// <summary>The server cannot process the request now.</summary>
    public static StatusCode BadServerTooBusy => new(0x80EE_0000);
}
