#!/usr/bin/env bash
# Certificates for tests of TLS, made on the spot.
#
#     certificates.sh DIRECTORY
#
# fills it with pairs NAME.crt and NAME.key:
#
#     ca            signs those below, but for the stranger's and the loner's
#     server        for localhost and 127.0.0.1
#     renewed       the same once more, as of a server whose certificate was replaced
#     elsewhere     for redis.example alone
#     expired       for localhost, until yesterday
#     client        of who connects; client-locked.key is its key, encrypted with "open sesame",
#                   client-both.pem that with the certificate in one file
#     loner         for localhost, signed by itself
#     stranger      a CA of others, and stranger-client, whom that has signed
#
# and ca/ is a folder with ca.crt, as OpenSSL's "capath" wants it.
set -euo pipefail

cd "$1"

new_key() {
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1.key"
}

# by_itself NAME SUBJECT [EXTENSION]
by_itself() {
    new_key "$1"
    openssl req -x509 -new -key "$1.key" -days 365 -subj "/CN=$2" "${@:3}" -out "$1.crt"
}

# by CA NAME DAYS SUBJECT ALTERNATIVE-NAMES
by() {
    new_key "$2"
    openssl req -new -key "$2.key" -subj "/CN=$4" -out "$2.csr"
    openssl x509 -req -in "$2.csr" -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days "$3" \
        -extfile <(printf 'subjectAltName=%s\n' "$5") -out "$2.crt"
    rm "$2.csr"
}

{
    here=DNS:localhost,IP:127.0.0.1
    by_itself ca 'CA of the tests'
    by_itself stranger 'CA of others'
    by_itself loner localhost -addext "subjectAltName=$here" -addext basicConstraints=critical,CA:FALSE
    by ca server 365 localhost "$here"
    by ca renewed 365 localhost "$here"
    by ca elsewhere 365 redis.example DNS:redis.example
    by ca expired -1 localhost "$here"
    by ca client 365 client DNS:client.example
    by stranger stranger-client 365 client DNS:client.example
    openssl pkey -in client.key -aes256 -passout 'pass:open sesame' -out client-locked.key
    cat client.crt client-locked.key > client-both.pem
    mkdir ca
    cp ca.crt "ca/$(openssl x509 -in ca.crt -noout -hash).0"
    chmod a+r ./*.key ./*.pem
} > certificates.log 2>&1 || { cat certificates.log >&2; exit 1; }
